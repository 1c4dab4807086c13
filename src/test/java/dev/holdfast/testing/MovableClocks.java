package dev.holdfast.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Hosts whose wall clocks can be moved while their programs run. libfaketime gives each program
 * another time, and leaves the monotonic clock alone. Java works with it; Redis does not start,
 * since jemalloc reads the clock too early.
 */
public final class MovableClocks implements AutoCloseable {

  /** Where Debian, Ubuntu and Fedora have it. */
  private static final List<String> DIRECTORIES =
      List.of("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64");

  private static final String LIBRARY = "faketime/libfaketimeMT.so.1";

  private final Path directory;
  private final Map<String, Path> files = new HashMap<>();

  /** Begins without hosts. */
  public MovableClocks() {
    try {
      directory = Files.createTempDirectory("clocks");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Whether libfaketime is installed. */
  public static boolean areAvailable() {
    return library().isPresent();
  }

  private static Optional<Path> library() {
    return DIRECTORIES.stream()
        .map(each -> Path.of(each, LIBRARY))
        .filter(Files::isRegularFile)
        .findFirst();
  }

  /** The same host, where programs that start from now on have a clock that can be moved. */
  public Host on(Host host) {
    Path file = directory.resolve(host.address());
    files.put(host.address(), file);
    move(host, Duration.ZERO);
    List<String> entry = new ArrayList<>(host.entry());
    entry.addAll(
        List.of(
            "env",
            "LD_PRELOAD=" + library().orElseThrow(),
            "FAKETIME_TIMESTAMP_FILE=" + file,
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            "FAKETIME_CACHE_DURATION=1"));
    return new Host(host.address(), entry);
  }

  /** Sets the clock of a host ahead of the true time, or behind it. Programs notice in a second. */
  public void move(Host host, Duration ahead) {
    Path file = Objects.requireNonNull(files.get(host.address()));
    try {
      Path next = Files.writeString(Path.of(file + ".next"), "%+d%n".formatted(ahead.toSeconds()));
      Path _ = Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    try {
      for (Path file : files.values()) {
        Files.delete(file);
      }
      Files.delete(directory);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
