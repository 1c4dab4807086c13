package dev.holdfast.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A child process that serves on a port and says on which, running until it is closed. */
public final class ServerProcess implements AutoCloseable {

  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

  private final Process process;
  private final Pattern ready;
  private final Queue<String> output = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<Integer> listeningPort = new CompletableFuture<>();
  private final int port;

  private ServerProcess(Process process, Pattern ready) {
    this.process = process;
    this.ready = ready;
    // A platform thread: reading a pipe blocks the carrier of a virtual one.
    Thread.ofPlatform().daemon().name("output of " + process.pid()).start(this::drain);
    this.port = awaitPort();
  }

  /**
   * Starts a server and returns when it listens.
   *
   * @param ready finds, in one line of its output, the port as its first group
   * @throws IllegalStateException if the process ends or stays silent instead
   */
  public static ServerProcess start(ProcessBuilder builder, Pattern ready) {
    try {
      return new ServerProcess(builder.redirectErrorStream(true).start(), ready);
    } catch (IOException e) {
      throw new IllegalStateException("Cannot start " + builder.command(), e);
    }
  }

  /** The port that it said. */
  public int port() {
    return port;
  }

  /** The process itself. */
  public Process process() {
    return process;
  }

  /** All that the server has written so far, for the messages of failing tests. */
  public String output() {
    return String.join("\n", output);
  }

  /** Kills the server and whatever it started. */
  @Override
  public void close() {
    ProcessRun.kill(process);
  }

  /** Stops a process in its tracks: connections stay open and nothing is answered. */
  public static void freeze(ProcessHandle process) {
    signal(process, "-STOP");
  }

  /** Lets a frozen one go on. */
  public static void thaw(ProcessHandle process) {
    signal(process, "-CONT");
  }

  private static void signal(ProcessHandle process, String name) {
    List<String> command = List.of("kill", name, Long.toString(process.pid()));
    try {
      ProcessResult sent = ProcessRun.toEnd(Path.of("."), Duration.ofSeconds(5), command);
      assertThat(sent.exitCode()).as(sent.toString()).isZero();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private int awaitPort() {
    try {
      return listeningPort.get(START_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      close();
      throw new IllegalStateException("The server did not start: " + output(), e);
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while the server started", e);
    }
  }

  private void drain() {
    try (BufferedReader reader = process.inputReader()) {
      reader
          .lines()
          .forEach(line -> {
            output.add(line);
            Matcher matcher = ready.matcher(line);
            if (matcher.find()) {
              listeningPort.complete(Integer.valueOf(matcher.group(1)));
            }
          });
    } catch (IOException | UncheckedIOException e) {
      output.add(e.toString());
    }
    // Without effect if the port came before.
    int exitCode = process.onExit().join().exitValue();
    listeningPort.completeExceptionally(
        new IllegalStateException("The process ended with exit code " + exitCode));
  }
}
