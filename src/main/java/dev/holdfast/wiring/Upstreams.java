package dev.holdfast.wiring;

import dev.holdfast.http.LimitsConfig;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.http.HttpUpstream;
import dev.holdfast.upstream.http.HttpUpstreamSettings;
import dev.holdfast.upstream.local.LocalUpstream;
import dev.holdfast.upstream.local.Tool;
import io.quarkus.arc.All;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.vertx.core.Vertx;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** The configured upstreams. */
@Singleton
final class Upstreams {

  private static final String DEFAULT = "default";

  private final Map<String, Upstream> byName = new HashMap<>();

  Upstreams(
      GatewayConfig config,
      LimitsConfig limits,
      @All List<Tool> tools,
      Vertx vertx,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    config
        .upstreams()
        .forEach((name, server) -> {
          URI url =
              server
                  .url()
                  .orElseThrow(() ->
                      new ConfigurationException("holdfast.upstreams." + name + ".url is missing"));
          byName.put(name, http(vertx, "holdfast.upstreams." + name, url, server, limits));
        });
    byName.put(
        DEFAULT,
        config
            .upstream()
            .url()
            .<Upstream>map(url -> http(vertx, "holdfast.upstream", url, config.upstream(), limits))
            .orElseGet(() -> new LocalUpstream(tools, "holdfast", version)));
  }

  private static Upstream http(
      Vertx vertx, String key, URI url, GatewayConfig.Server server, LimitsConfig limits) {
    try {
      return new HttpUpstream(vertx, settings(url, server, limits));
    } catch (IllegalArgumentException refused) {
      // Without its cause, whose text it has: only of the innermost one that is a
      // ConfigurationException, Quarkus shows a line instead of a stack trace.
      throw new ConfigurationException(
          key + " cannot be used" + shown(url) + ": " + refused.getMessage());
    }
  }

  private static HttpUpstreamSettings settings(
      URI url, GatewayConfig.Server server, LimitsConfig limits) {
    HttpUpstreamSettings defaults = HttpUpstreamSettings.defaults(url);
    return new HttpUpstreamSettings(
        url,
        headers(server),
        server.connectTimeout(),
        server.firstByteTimeout(),
        server.idleTimeout(),
        limits.messageBytes().value(),
        defaults.maxRetryDelay(),
        defaults.resumeAttempts());
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

  Map<String, Upstream> byName() {
    return Map.copyOf(byName);
  }

  @PreDestroy
  void close() {
    byName.values().forEach(Upstream::close);
  }
}
