package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.JavaProject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A program of {@code src/test/projects} that runs, and each line that it has printed. */
final class ClientProgram implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Process process;
  private final Thread reader;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  private ClientProgram(List<String> command) {
    try {
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    // A platform thread: reading a pipe blocks the carrier of a virtual one.
    reader = Thread.ofPlatform().daemon().start(this::read);
  }

  /**
   * Starts a client.
   *
   * @param transport {@code http}, {@code sse} or {@code stdio}
   * @param where the URL of the server, or what the program takes instead
   * @param timeout the client's own limit for a request
   * @param steps what it does, see {@code Steps} of the projects
   */
  static ClientProgram start(
      JavaProject project, String transport, String where, Duration timeout, String... steps) {
    List<String> arguments =
        Stream.concat(
                Stream.of(transport, where, Long.toString(timeout.toSeconds())), Stream.of(steps))
            .toList();
    return new ClientProgram(project.command(arguments.toArray(String[]::new)));
  }

  private void read() {
    try (BufferedReader output = process.inputReader()) {
      output.lines().forEach(lines::add);
    } catch (IOException | UncheckedIOException failure) {
      lines.add(failure.toString());
    }
  }

  /** Waits until it has printed a line. */
  void awaitLine(String line) {
    await()
        .atMost(PATIENCE)
        .failFast(
            () -> assertThat(process.isAlive() || lines.contains(line)).as(toString()).isTrue())
        .until(() -> lines.contains(line));
  }

  /** Waits for its end, which never takes long: each request has a limit. Returns all lines. */
  List<String> end() {
    try {
      assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).as(toString()).isTrue();
      reader.join();
      return List.copyOf(lines);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  @Override
  public String toString() {
    return String.join("\n", lines);
  }

  /** Kills it, if it still runs. */
  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
