package dev.holdfast.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** A gateway as it is shipped: the packaged program, running as a process of its own. */
public final class Gateway implements AutoCloseable {

  private static final Pattern READY = Pattern.compile("Listening on: http://[^:]+:(\\d+)");
  private static final String JAR =
      Objects.requireNonNull(
          System.getProperty("holdfast.jar"), "the build names the packaged program");

  private final ServerProcess server;

  private Gateway(ServerProcess server) {
    this.server = server;
  }

  /**
   * Starts a gateway on a free port and returns when it listens. Its code is compiled quickly
   * rather than well, since it lives for seconds: that halves the work of starting it.
   *
   * @param settings configuration keys and values, such as {@code holdfast.upstream.url}
   */
  public static Gateway start(Map<String, String> settings) {
    return start(settings, "-Xmx512m", "-XX:TieredStopAtLevel=1");
  }

  /**
   * Starts a gateway in a JVM with options of its own, such as {@code -Xmx128m}.
   *
   * @param settings configuration keys and values
   */
  public static Gateway start(Map<String, String> settings, String... options) {
    assertThat(Files.exists(Path.of(JAR))).as("the packaged program %s", JAR).isTrue();
    Map<String, String> all = new HashMap<>(Map.of("quarkus.http.port", "0"));
    all.putAll(settings);
    ProcessBuilder builder = new ProcessBuilder(java());
    builder.command().addAll(List.of(options));
    all.forEach((key, value) -> builder.command().add("-D" + key + "=" + value));
    builder.command().add("-jar");
    builder.command().add(JAR);
    return new Gateway(ServerProcess.start(builder, READY));
  }

  /** The URL of the default upstream. */
  public URI url() {
    return url("/mcp");
  }

  /** The URL of a path. */
  public URI url(String path) {
    return URI.create("http://127.0.0.1:" + server.port() + path);
  }

  /** Whether it says that it is ready; not, while it cannot be asked. */
  public boolean isReady() {
    try {
      var connection = (HttpURLConnection) url("/q/health/ready").toURL().openConnection();
      try {
        return connection.getResponseCode() == 200;
      } finally {
        connection.disconnect();
      }
    } catch (IOException away) {
      return false;
    }
  }

  /** All that the gateway has logged so far, for the messages of failing tests. */
  public String output() {
    return server.output();
  }

  /** The process id. */
  public long pid() {
    return server.process().pid();
  }

  /** Ends the gateway without warning, as SIGKILL does, and returns when it is gone. */
  public void kill() {
    server.close();
  }

  /** Stops the gateway in its tracks: connections stay open and nothing is answered. */
  public void freeze() {
    signal("-STOP");
  }

  /** Lets a frozen one go on. */
  public void thaw() {
    signal("-CONT");
  }

  private void signal(String name) {
    List<String> command = List.of("kill", name, Long.toString(pid()));
    try {
      ProcessResult sent = ProcessRun.toEnd(Path.of("."), Duration.ofSeconds(5), command);
      assertThat(sent.exitCode()).as(sent.toString()).isZero();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Asks the gateway to end, as Kubernetes does with SIGTERM. Returns at once. */
  public void terminate() {
    server.process().destroy();
  }

  /** Waits for the end of a gateway that was asked to. */
  public boolean awaitEnd(long seconds) throws InterruptedException {
    return server.process().waitFor(seconds, TimeUnit.SECONDS);
  }

  /** Ends the gateway, if it still runs. */
  @Override
  public void close() {
    server.close();
  }

  private static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }
}
