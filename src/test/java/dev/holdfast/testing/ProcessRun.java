package dev.holdfast.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs a command to its end, and stops processes with all that they started. */
final class ProcessRun {
  private ProcessRun() {}

  /**
   * Runs {@code command} and waits for its end.
   *
   * @throws IOException if the command cannot be started, for one because it is not installed
   * @throws IllegalStateException if it takes longer than {@code timeout}; it is killed then
   */
  static ProcessResult toEnd(Path directory, Duration timeout, List<String> command)
      throws IOException {
    return toEnd(directory, Map.of(), timeout, command);
  }

  /**
   * Runs {@code command} as {@link #toEnd(Path, Duration, List)} does.
   *
   * @param environment variables besides those of this process
   */
  static ProcessResult toEnd(
      Path directory, Map<String, String> environment, Duration timeout, List<String> command)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      var stdout = readAll(process.inputReader(), command.getFirst() + " stdout");
      var stderr = readAll(process.errorReader(), command.getFirst() + " stderr");
      boolean ended = process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
      if (!ended) {
        kill(process);
      }
      // Only now, for the pipes end when the process and all its children have ended.
      var result = new ProcessResult(process.exitValue(), stdout.join(), stderr.join());
      if (!ended) {
        throw new IllegalStateException(command + " did not end in " + timeout + ": " + result);
      }
      return result;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for " + command, e);
    } finally {
      kill(process);
    }
  }

  /** Kills all that this process has started when it ends, also when it is asked to end. */
  static void killDescendantsAtExit() {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() ->
                ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly)));
  }

  /** Kills the process with its descendants and returns when it is gone. */
  static void kill(Process process) {
    List<ProcessHandle> descendants = process.descendants().toList();
    process.destroyForcibly();
    descendants.forEach(ProcessHandle::destroyForcibly);
    process.onExit().join();
  }

  private static CompletableFuture<String> readAll(BufferedReader reader, String name) {
    var text = new CompletableFuture<String>();
    // A platform thread: reading a pipe blocks the carrier of a virtual one.
    Thread.ofPlatform()
        .daemon()
        .name(name)
        .start(() -> {
          try (reader) {
            text.complete(reader.readAllAsString());
          } catch (IOException | UncheckedIOException e) {
            text.completeExceptionally(e);
          }
        });
    return text;
  }
}
