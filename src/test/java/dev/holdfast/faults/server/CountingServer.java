package dev.holdfast.faults.server;

import dev.holdfast.testing.Host;
import dev.holdfast.testing.ServerProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A fast MCP server over Streamable HTTP that does to its clients whatever it is told to. Its tool
 * {@code count} reports {@code n} steps, one every {@code intervalMs}, each with {@code payload}
 * bytes; its standalone stream brings a numbered message every quarter of a second.
 *
 * <p>With event ids, streams go on while nobody is connected, and any can be resumed. Without, what
 * is sent while nobody reads is lost, and with its connection a call.
 */
public final class CountingServer implements AutoCloseable {

  private static final String IDS = "--ids";
  private static final Pattern LISTENING = Pattern.compile("listening on (\\d+)");

  private final Host host;
  private final ServerProcess process;
  private final Writer commands;

  private CountingServer(Host host, ServerProcess process) {
    this.host = host;
    this.process = process;
    this.commands = process.process().outputWriter();
  }

  /**
   * Starts one as a process of its own.
   *
   * @param ids whether its events have ids
   */
  public static CountingServer start(boolean ids) {
    return start(Host.LOCAL, ids);
  }

  /** Starts one on a host. */
  public static CountingServer start(Host host, boolean ids) {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            CountingServer.class.getName(),
            ids ? IDS : "--no-ids",
            host.address());
    return new CountingServer(
        host, ServerProcess.start(new ProcessBuilder(host.command(command)), LISTENING));
  }

  /** The content of the result of {@code count}, as raw JSON. */
  public static String counted(int steps) {
    return "[{\"type\":\"text\",\"text\":\"counted " + steps + "\"}]";
  }

  /** Its MCP endpoint. */
  public URI url() {
    return host.url(process.port(), "/mcp");
  }

  /** The calls that arrived a second time, one in each line; empty if none did. */
  public String repeatedCalls() {
    return process
        .output()
        .lines()
        .filter(line -> line.startsWith(Server.REPEATED))
        .collect(Collectors.joining("\n"));
  }

  /** Tells it what to do from now on. Returns at once. */
  public void be(ServerFault trouble) {
    try {
      commands.write(trouble.name() + "\n");
      commands.flush();
    } catch (IOException gone) {
      throw new UncheckedIOException(process.output(), gone);
    }
  }

  /** Ends it. */
  @Override
  public void close() {
    process.close();
  }

  /**
   * Serves on a free port, which it prints, until its standard input ends.
   *
   * @param args {@code --ids} gives events ids; then the address to listen on
   */
  public static void main(String[] args) throws IOException {
    Server server = new Server(args[0].equals(IDS), InetAddress.getByName(args[1]));
    System.out.println("listening on " + server.port());
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      server.be(ServerFault.valueOf(line));
    }
    System.exit(0);
  }
}
