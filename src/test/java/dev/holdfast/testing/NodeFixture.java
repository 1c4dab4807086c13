package dev.holdfast.testing;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * An MCP server in Node.js, running as a child process until it is closed; and a way to run other
 * scripts of {@code src/test/node} to their end. The first use installs what they need.
 */
public final class NodeFixture implements AutoCloseable {
  /** The server that offers what the conformance suite asks for, and more. */
  public static final String CONFORMANCE_SERVER = "conformance-server.mjs";

  /** The same server over stdio. */
  public static final String CONFORMANCE_STDIO = "conformance-stdio.mjs";

  /** The same server over HTTP+SSE, at the path {@code /sse}. */
  public static final String LEGACY_SERVER = "legacy-server.mjs";

  /** The same server in the revision 2026-07-28; with {@code --stdio} over stdio. */
  public static final String STATELESS_SERVER = "era/server.mjs";

  /** The client of the scenarios of the conformance suite for clients. */
  public static final String CONFORMANCE_CLIENT = "era/conformance-client.mjs";

  /** A server of the MCP project itself, as it is published; with {@code stdio} over stdio. */
  public static final String EVERYTHING =
      "node_modules/@modelcontextprotocol/server-everything/dist/index.js";

  /** The client on the official SDK that calls one tool and prints what came. */
  public static final String SDK_CLIENT = "sdk-client.mjs";

  private static final Pattern READY = Pattern.compile("listening on (\\d+)");

  private final ServerProcess server;

  private NodeFixture(ServerProcess server) {
    this.server = server;
  }

  /**
   * Starts a server and returns when it listens.
   *
   * @param script its name in {@code src/test/node}, such as {@link #CONFORMANCE_SERVER}
   * @param arguments what the script gets
   * @throws IllegalStateException if npm is missing, or the server ends or stays silent instead
   */
  public static NodeFixture start(String script, String... arguments) {
    return start(Host.LOCAL, command(script, arguments));
  }

  /** Starts a server on a host. The script must know the option {@code --host}. */
  public static NodeFixture start(Host host, String script, String... arguments) {
    List<String> command = command(script, arguments);
    command.addAll(List.of("--host", host.address()));
    return start(host, command);
  }

  private static NodeFixture start(Host host, List<String> command) {
    // Its stdin stays open as long as this process lives; the script ends when it closes.
    ProcessBuilder builder =
        new ProcessBuilder(host.command(command)).directory(NodeToolchain.home().toFile());
    return new NodeFixture(ServerProcess.start(builder, READY));
  }

  /**
   * Starts {@link #EVERYTHING} and returns when it listens.
   *
   * @param transport as it calls them: {@code sse} or {@code streamableHttp}
   * @throws IllegalStateException as above
   */
  public static NodeFixture everything(String transport) {
    ProcessBuilder builder =
        new ProcessBuilder(command(EVERYTHING, transport)).directory(NodeToolchain.home().toFile());
    // It does not say which port it was given if it leaves the choice to the system.
    builder.environment().put("PORT", Integer.toString(Ports.free()));
    return new NodeFixture(ServerProcess.start(builder, Pattern.compile("on port (\\d+)")));
  }

  /**
   * Runs a script to its end.
   *
   * @param timeout after this time the script is killed
   * @param script its path, relative to {@code src/test/node}
   * @param arguments what the script gets
   * @throws IllegalStateException if npm is missing, or the script takes too long
   */
  public static ProcessResult run(Duration timeout, String script, String... arguments) {
    return toEnd(timeout, command(script, arguments));
  }

  /**
   * As {@link #run(Duration, String, String...)}, with another home directory for the script.
   *
   * @throws IllegalStateException likewise
   */
  static ProcessResult run(Path home, Duration timeout, String script, String... arguments) {
    List<String> command = new ArrayList<>(List.of("env", "HOME=" + home));
    command.addAll(command(script, arguments));
    return toEnd(timeout, command);
  }

  private static ProcessResult toEnd(Duration timeout, List<String> command) {
    try {
      return ProcessRun.toEnd(NodeToolchain.home(), timeout, command);
    } catch (IOException e) {
      throw new IllegalStateException("Cannot run " + command, e);
    }
  }

  /** The directory of the scripts, {@code src/test/node}. */
  public static Path directory() {
    return NodeToolchain.home();
  }

  /**
   * The text of a file of {@link #directory()}, such as a script for browsers in one of the
   * packages.
   *
   * @throws IllegalStateException if npm is missing
   */
  public static String text(String file) {
    Path _ = NodeToolchain.node();
    try {
      return Files.readString(directory().resolve(file));
    } catch (IOException e) {
      throw new IllegalStateException("Cannot read " + file, e);
    }
  }

  /**
   * The command line of a server over stdio, as {@code holdfast.upstream.command} has it. The first
   * use installs what it needs.
   *
   * @param script its path, relative to {@code src/test/node}
   * @param arguments what the script gets
   * @throws IllegalStateException if npm is missing
   */
  public static String commandLine(String script, String... arguments) {
    return absolute(script, arguments).stream()
        .map(word -> "'" + word + "'")
        .collect(Collectors.joining(" "));
  }

  /** The command line of a script, without quotes. The first use installs what it needs. */
  public static String words(String script, String... arguments) {
    return String.join(" ", absolute(script, arguments));
  }

  private static List<String> absolute(String script, String... arguments) {
    return command(NodeToolchain.home().resolve(script).toString(), arguments);
  }

  /** Where the server's MCP endpoint is. */
  public URI url() {
    return url("/mcp");
  }

  /** The URL of a path. */
  public URI url(String path) {
    return URI.create("http://127.0.0.1:" + port() + path);
  }

  /** The port that the server listens on. */
  public int port() {
    return server.port();
  }

  /** Its process. */
  public ProcessHandle process() {
    return server.process().toHandle();
  }

  /** Whether the server still runs. */
  public boolean isAlive() {
    return server.process().isAlive();
  }

  /** All that the server has written so far, for the messages of failing tests. */
  public String output() {
    return server.output();
  }

  /** Kills the server and whatever it started. */
  @Override
  public void close() {
    server.close();
  }

  private static List<String> command(String script, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(NodeToolchain.node().toString());
    command.add(script);
    command.addAll(List.of(arguments));
    return command;
  }
}
