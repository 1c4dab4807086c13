package dev.holdfast.wiring;

import dev.holdfast.http.limit.LimitsConfig;
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

final class UpstreamFactory {

  private final Vertx vertx;
  private final LimitsConfig limits;
  private final boolean patient;

  /**
   * @param patient whether upstreams retry for as long as it takes, see {@link
   *     HttpUpstreamSettings#patient()}
   */
  UpstreamFactory(Vertx vertx, LimitsConfig limits, boolean patient) {
    this.vertx = vertx;
    this.limits = limits;
    this.patient = patient;
  }

  /**
   * Creates an upstream.
   *
   * @param key prefix of its configuration keys
   * @param name its name in log messages
   * @return empty if neither a URL nor a command is configured
   * @throws ConfigurationException if the configuration is invalid
   */
  Optional<Upstream> create(String key, String name, GatewayConfig.Server server) {
    if (server.url().isPresent() && server.command().isPresent()) {
      throw new ConfigurationException(
          key + ".url and " + key + ".command exclude each other: configure one of them");
    }
    try {
      return create(name, server);
    } catch (IllegalArgumentException invalid) {
      // Without the cause: Quarkus prints a stack trace unless the innermost exception is a
      // ConfigurationException.
      throw new ConfigurationException(
          key
              + " cannot be used"
              + server.url().map(UpstreamFactory::withoutSecrets).orElse("")
              + ": "
              + invalid.getMessage());
    }
  }

  private Optional<Upstream> create(String name, GatewayConfig.Server server) {
    Optional<HttpUpstreamSettings> http = server.url().map(url -> settings(url, server));
    Optional<StdioUpstreamSettings> stdio =
        server.command().map(command -> settings(name, command, server));
    int maxSessions = server.maxConnections();
    boolean respawn = server.respawn();
    return switch (server.transport()) {
      case AUTO ->
          http.<Upstream>map(
                  found -> new DetectingUpstream(vertx, found, name, maxSessions, respawn))
              .or(() -> stdio.map(StdioUpstream::new));
      case STREAMABLE_HTTP -> Optional.of(new HttpUpstream(vertx, required(http, "url")));
      case SSE ->
          Optional.of(new LegacyUpstream(vertx, required(http, "url"), name, maxSessions, respawn));
      case STDIO -> Optional.of(new StdioUpstream(required(stdio, "command")));
    };
  }

  private static <T> T required(Optional<T> settings, String key) {
    return settings.orElseThrow(
        () -> new IllegalArgumentException("the configured transport needs a " + key));
  }

  private HttpUpstreamSettings settings(URI url, GatewayConfig.Server server) {
    Map<String, String> headers = new HashMap<>();
    server.headers().forEach((name, value) -> headers.put(name.replace('.', '-'), value));
    HttpUpstreamSettings settings =
        new HttpUpstreamSettings(
            url,
            headers,
            server.connectTimeout(),
            server.firstByteTimeout(),
            server.idleTimeout(),
            limits.messageBytes().value(),
            HttpUpstreamSettings.Reconnection.DEFAULT,
            server.maxConnections());
    return patient ? settings.patient() : settings;
  }

  private StdioUpstreamSettings settings(String name, String command, GatewayConfig.Server server) {
    Map<String, String> environment = new HashMap<>();
    server
        .environment()
        .forEach((variable, value) ->
            environment.put(variable.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_"), value));
    return new StdioUpstreamSettings(
        name,
        CommandLine.parse(command),
        environment,
        server.directory().map(Path::toAbsolutePath).orElse(null),
        server.maxProcesses(),
        server.stopGrace(),
        server.firstByteTimeout(),
        server.idleTimeout(),
        limits.messageBytes().value(),
        server.respawn());
  }

  /** Describes the URL without its credentials and its query. */
  private static String withoutSecrets(URI url) {
    return url.getHost() == null
        ? ""
        : " with the url " + url.getScheme() + "://" + url.getHost() + url.getRawPath();
  }
}
