package dev.holdfast.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The packaged program as it is called from a command line. */
public final class Holdfast {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private Holdfast() {}

  /** The words that start it, with those behind its name. */
  public static List<String> command(String... words) {
    String jar =
        Objects.requireNonNull(
            System.getProperty("holdfast.jar"), "the build names the packaged program");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // It lives for seconds: compiled quickly rather than well it starts with half the work.
    command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-jar", Path.of(jar).toAbsolutePath().toString()));
    command.addAll(List.of(words));
    return command;
  }

  /** Runs it to its end. */
  public static ProcessResult run(String... words) {
    return run(Path.of("."), Map.of(), command(words));
  }

  /**
   * Runs it to its end.
   *
   * @param directory where it looks for configuration
   * @param environment variables besides those of this process
   * @param command as {@link #command} gave it, perhaps with options of the JVM behind its first
   *     word
   */
  public static ProcessResult run(
      Path directory, Map<String, String> environment, List<String> command) {
    try {
      return ProcessRun.toEnd(directory, environment, TIMEOUT, command);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
