package dev.holdfast.wiring;

import dev.holdfast.http.LimitsConfig;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.http.DetectingUpstream;
import dev.holdfast.upstream.http.HttpUpstream;
import dev.holdfast.upstream.http.client.HttpUpstreamSettings;
import dev.holdfast.upstream.http.legacy.LegacyUpstream;
import dev.holdfast.upstream.stdio.CommandLine;
import dev.holdfast.upstream.stdio.StdioUpstream;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.vertx.core.Vertx;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Makes an upstream of what is configured: of a URL one kind or another, of a command a third. */
final class UpstreamFactory {

  private final Vertx vertx;
  private final LimitsConfig limits;
  private final boolean onlyWay;

  /**
   * @param onlyWay whether a server is waited for as long as it takes, since there is no other way
   */
  UpstreamFactory(Vertx vertx, LimitsConfig limits, boolean onlyWay) {
    this.onlyWay = onlyWay;
    this.vertx = vertx;
    this.limits = limits;
  }

  /**
   * Makes the upstream.
   *
   * @param key what all its keys begin with
   * @param name what it is called in our log
   * @return empty if there is neither a URL nor a command
   * @throws ConfigurationException if it cannot be used
   */
  Optional<Upstream> of(String key, String name, GatewayConfig.Server server) {
    if (server.url().isPresent() && server.command().isPresent()) {
      throw new ConfigurationException(
          key + ".url and " + key + ".command exclude each other: a server is one or the other");
    }
    try {
      return switch (server.transport()) {
        case AUTO -> detected(name, server);
        case STREAMABLE_HTTP -> Optional.of(streamable(required(server.url(), "url"), server));
        case SSE -> Optional.of(legacy(name, required(server.url(), "url"), server));
        case STDIO -> Optional.of(stdio(name, required(server.command(), "command"), server));
      };
    } catch (IllegalArgumentException refused) {
      // Without its cause, whose text it has: only of the innermost one that is a
      // ConfigurationException, Quarkus shows a line instead of a stack trace.
      throw new ConfigurationException(
          key
              + " cannot be used"
              + server.url().map(UpstreamFactory::shown).orElse("")
              + ": "
              + refused.getMessage());
    }
  }

  private static <T> T required(Optional<T> value, String key) {
    return value.orElseThrow(
        () -> new IllegalArgumentException("the transport that is configured needs a " + key));
  }

  private Optional<Upstream> detected(String name, GatewayConfig.Server server) {
    return server
        .url()
        .<Upstream>map(url -> {
          HttpUpstreamSettings settings = patient(settings(url, server));
          int sessions = server.maxConnections();
          return new DetectingUpstream(vertx, settings, name, sessions, server.respawn());
        })
        .or(() -> server.command().map(command -> stdio(name, command, server)));
  }

  private Upstream streamable(URI url, GatewayConfig.Server server) {
    return new HttpUpstream(vertx, patient(settings(url, server)));
  }

  private Upstream legacy(String name, URI url, GatewayConfig.Server server) {
    HttpUpstreamSettings settings = patient(settings(url, server));
    return new LegacyUpstream(vertx, settings, name, server.maxConnections(), server.respawn());
  }

  private Upstream stdio(String name, String command, GatewayConfig.Server server) {
    return new StdioUpstream(settings(name, command, server));
  }

  private HttpUpstreamSettings settings(URI url, GatewayConfig.Server server) {
    HttpUpstreamSettings defaults = HttpUpstreamSettings.defaults(url);
    return new HttpUpstreamSettings(
            url,
            headers(server),
            server.connectTimeout(),
            server.firstByteTimeout(),
            server.idleTimeout(),
            limits.messageBytes().value(),
            defaults.maxRetryDelay(),
            defaults.resumeAttempts())
        .withMaxConnections(server.maxConnections());
  }

  private HttpUpstreamSettings patient(HttpUpstreamSettings settings) {
    return onlyWay ? settings.patient() : settings;
  }

  private static Map<String, String> headers(GatewayConfig.Server server) {
    Map<String, String> headers = new HashMap<>();
    server.headers().forEach((name, value) -> headers.put(name.replace('.', '-'), value));
    return headers;
  }

  /** The URL without what may be secret in it: credentials, and the query. */
  private static String shown(URI url) {
    return url.getHost() == null
        ? ""
        : " with the url " + url.getScheme() + "://" + url.getHost() + url.getRawPath();
  }

  private StdioUpstreamSettings settings(String name, String command, GatewayConfig.Server server) {
    return new StdioUpstreamSettings(
        name,
        CommandLine.parse(command),
        variables(server),
        server.directory().map(Path::toAbsolutePath).orElse(null),
        server.maxProcesses(),
        server.stopGrace(),
        server.firstByteTimeout(),
        server.idleTimeout(),
        limits.messageBytes().value(),
        server.respawn());
  }

  private static Map<String, String> variables(GatewayConfig.Server server) {
    Map<String, String> variables = new HashMap<>();
    server
        .environment()
        .forEach((name, value) ->
            variables.put(name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_"), value));
    return variables;
  }
}
