package dev.holdfast.wiring;

import dev.holdfast.upstream.stdio.CommandLine;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Looks for the server of an upstream without sending it a message: each session begins with the
 * client's own.
 */
final class UpstreamLook {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private UpstreamLook() {}

  /** Returns why the server is not there. */
  static Optional<String> problem(GatewayConfig.Server server) {
    return server
        .url()
        .map(UpstreamLook::connect)
        .orElseGet(() -> server.command().flatMap(command -> find(command, server)));
  }

  /** Returns why no connection to the URL's host is possible. */
  private static Optional<String> connect(URI url) {
    int port = url.getPort() >= 0 ? url.getPort() : url.getScheme().equals("https") ? 443 : 80;
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(url.getHost(), port), Math.toIntExact(TIMEOUT.toMillis()));
      return Optional.empty();
    } catch (UnknownHostException unknown) {
      return Optional.of("unknown host " + url.getHost());
    } catch (IOException failure) {
      return Optional.of(
          "no connection to " + url.getHost() + ":" + port + ": " + failure.getMessage());
    }
  }

  /** Returns why there is no such program. The PATH is that of the gateway. */
  private static Optional<String> find(String command, GatewayConfig.Server server) {
    String program = CommandLine.parse(command).getFirst();
    return CommandLine.isInstalled(program, server.directory().orElse(Path.of("")))
        ? Optional.empty()
        : Optional.of(
            "no program " + program + ": install it, or give its whole path in the command");
  }
}
