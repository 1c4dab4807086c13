package dev.holdfast.upstream.stdio;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.channel.Channel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A server that runs the shell code in its messages; see {@code server.sh}. */
final class ShellServer {

  private final Path directory;
  private final Map<String, String> variables = new HashMap<>();
  private List<String> command = List.of("/bin/sh", script());
  private Duration stopGrace = Duration.ofSeconds(1);
  private Duration firstByteTimeout = Duration.ofSeconds(20);
  private Duration idleTimeout = Duration.ofSeconds(20);
  private int maxProcesses = 10;
  private int maxProcessesPerClient = 10;
  private boolean respawn;
  private int maxMessageBytes = 100_000;

  /**
   * @param directory an empty one
   */
  ShellServer(Path directory) {
    this.directory = directory;
    variables.put("RECORD", record().toString());
  }

  static String script() {
    URL script = Objects.requireNonNull(ShellServer.class.getResource("server.sh"));
    try {
      return Path.of(script.toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private Path record() {
    return directory.resolve("received");
  }

  /** The lines that the server has read. */
  List<String> received() {
    try {
      return Files.exists(record()) ? Files.readAllLines(record()) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  ShellServer with(String variable, String value) {
    variables.put(variable, value);
    return this;
  }

  ShellServer runBy(String... command) {
    this.command = List.of(command);
    return this;
  }

  ShellServer stopGrace(Duration stopGrace) {
    this.stopGrace = stopGrace;
    return this;
  }

  ShellServer firstByteTimeout(Duration firstByteTimeout) {
    this.firstByteTimeout = firstByteTimeout;
    return this;
  }

  ShellServer idleTimeout(Duration idleTimeout) {
    this.idleTimeout = idleTimeout;
    return this;
  }

  ShellServer maxProcesses(int maxProcesses) {
    this.maxProcesses = maxProcesses;
    return this;
  }

  ShellServer maxProcessesPerClient(int maxProcessesPerClient) {
    this.maxProcessesPerClient = maxProcessesPerClient;
    return this;
  }

  ShellServer respawn() {
    respawn = true;
    return this;
  }

  StdioUpstream upstream() {
    return new StdioUpstream(settings(), new ByteBudget(1 << 26));
  }

  StdioUpstreamSettings settings() {
    return new StdioUpstreamSettings(
        command,
        variables,
        directory,
        stopGrace,
        new Channel.Settings(
            "sh",
            maxProcesses,
            maxProcessesPerClient,
            firstByteTimeout,
            idleTimeout,
            maxMessageBytes,
            respawn));
  }

  /** A request; the code prints the answer. */
  static String request(String id, String method, String code) {
    return request(id, method, code, null);
  }

  /** A request with a progress token. */
  static String request(String id, String method, String code, @Nullable String token) {
    String meta = token == null ? "" : ",\"_meta\":{\"progressToken\":" + token + "}";
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":{\"name\":\"t\"%s,\"sh\":\"%s\"}}"
        .formatted(id, method, meta, encoded(code));
  }

  /** A notification; the server runs the code. */
  static String notification(String code) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/test\",\"params\":{\"sh\":\"%s\"}}"
        .formatted(encoded(code));
  }

  private static String encoded(String code) {
    return Base64.getEncoder().encodeToString(code.getBytes(UTF_8));
  }
}
