package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.http.origin.HttpConfig;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.stdio.CommandLine;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.vertx.http.HttpServer;
import io.quarkus.vertx.http.HttpServerStart;
import io.quarkus.vertx.http.HttpsServerStart;
import io.smallrye.config.SmallRyeConfig;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.ObservesAsync;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jboss.logging.Logger;

/**
 * Logs at the start what this gateway is: the URLs for clients, the store, whether the upstreams
 * are there, and what it refuses.
 */
@Singleton
final class StartReport {

  private static final Logger LOG = Logger.getLogger(StartReport.class);
  private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(5);
  private static final String LIMITS = "holdfast.limits.";

  private final GatewayConfig gateway;
  private final HttpConfig http;
  private final HttpServer server;
  private final SmallRyeConfig config;
  private final boolean serves;

  /** Creates the report for upstreams that could be created, so their configuration is valid. */
  StartReport(
      GatewayConfig gateway,
      HttpConfig http,
      HttpServer server,
      SmallRyeConfig config,
      ProcessMode mode,
      ConfiguredUpstreams upstreams) {
    this.gateway = gateway;
    this.http = http;
    this.server = server;
    this.config = config;
    this.serves = mode.serves();
  }

  void serving(@ObservesAsync HttpServerStart start) {
    reportUrls("http", start.options().getHost(), server.getPort());
  }

  void serving(@ObservesAsync HttpsServerStart start) {
    reportUrls("https", start.options().getHost(), server.getSecurePort());
  }

  private void reportUrls(String scheme, String host, int port) {
    String root =
        "%s://%s:%d".formatted(scheme, host.contains(":") ? "[" + host + "]" : host, port);
    gateway
        .allUpstreams()
        .forEach((name, server) ->
            LOG.infof(
                "serving url=%s%s upstream=%s server=%s", root, path(name), name, kind(server)));
    if (gateway.agent().command().isPresent()) {
      String name = AgentUpstream.NAME;
      LOG.infof("serving url=%s%s upstream=%s server=agents", root, path(name), name);
    }
  }

  private static String path(String upstream) {
    return upstream.equals(Session.DEFAULT_UPSTREAM) ? "/mcp" : "/servers/" + upstream + "/mcp";
  }

  private static String kind(GatewayConfig.Server server) {
    return server.url().isPresent() ? "http" : server.command().isPresent() ? "stdio" : "local";
  }

  void started(@Observes StartupEvent event) {
    if (!serves) {
      return;
    }
    switch (gateway.store()) {
      case MEMORY -> LOG.info("sessions and events are in memory, and lost at a restart");
      case REDIS -> LOG.info("sessions and events are in Redis");
    }
    if (!http.allowedHosts().contains("*")) {
      LOG.infof("requests with another Host are refused allowed-hosts=%s", http.allowedHosts());
    }
    if (!http.allowedOrigins().contains("*")) {
      LOG.infof("web pages of others are refused allowed-origins=%s", http.allowedOrigins());
    }
    String limits = changedLimits();
    if (!limits.isEmpty()) {
      LOG.infof("limits other than the default: %s", limits);
    }
    gateway
        .allUpstreams()
        .forEach((name, server) ->
            Thread.ofVirtual().name("first-probe").start(() -> probe(name, server)));
  }

  /** The limits that the configuration sets, with their values. */
  private String changedLimits() {
    return StreamSupport.stream(config.getPropertyNames().spliterator(), false)
        .filter(name -> name.startsWith(LIMITS))
        .map(config::getConfigValue)
        .filter(value -> value.getConfigSourceOrdinal() > Integer.MIN_VALUE)
        .map(value -> value.getName().substring(LIMITS.length()) + "=" + value.getValue())
        .sorted()
        .collect(Collectors.joining(" "));
  }

  /** Looks for a server without sending it a message: each session begins with the client's own. */
  private static void probe(String name, GatewayConfig.Server server) {
    Optional<String> problem =
        server
            .url()
            .map(StartReport::connect)
            .orElseGet(() -> server.command().flatMap(command -> find(command, server)));
    if (problem.isPresent()) {
      LOG.warnf("upstream not found upstream=%s: %s", name, problem.get());
    } else if (!kind(server).equals("local")) {
      LOG.infof("upstream found upstream=%s", name);
    }
  }

  /** Returns why no connection to the URL's host is possible. */
  private static Optional<String> connect(URI url) {
    int port = url.getPort() >= 0 ? url.getPort() : url.getScheme().equals("https") ? 443 : 80;
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(url.getHost(), port), Math.toIntExact(PROBE_TIMEOUT.toMillis()));
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
    Path directory = server.directory().orElse(Path.of("")).toAbsolutePath();
    Stream<Path> places =
        program.contains("/")
            ? Stream.of(directory)
            : Stream.of(System.getenv().getOrDefault("PATH", "").split(":")).map(Path::of);
    return places.map(place -> place.resolve(program)).anyMatch(Files::isExecutable)
        ? Optional.empty()
        : Optional.of("no program " + program);
  }
}
