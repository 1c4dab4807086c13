package dev.holdfast.wiring;

import dev.holdfast.http.LimitsConfig;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.http.HttpUpstream;
import dev.holdfast.upstream.http.HttpUpstreamSettings;
import dev.holdfast.upstream.local.LocalUpstream;
import dev.holdfast.upstream.local.Tool;
import io.quarkus.arc.All;
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
                      new IllegalArgumentException(
                          "holdfast.upstreams." + name + ".url is missing"));
          byName.put(name, http(vertx, url, server, limits));
        });
    byName.put(
        DEFAULT,
        config
            .upstream()
            .url()
            .<Upstream>map(url -> http(vertx, url, config.upstream(), limits))
            .orElseGet(() -> new LocalUpstream(tools, "holdfast", version)));
  }

  private static Upstream http(
      Vertx vertx, URI url, GatewayConfig.Server server, LimitsConfig limits) {
    HttpUpstreamSettings defaults = HttpUpstreamSettings.defaults(url);
    return new HttpUpstream(
        vertx,
        new HttpUpstreamSettings(
            url,
            server.headers(),
            server.connectTimeout(),
            server.firstByteTimeout(),
            server.idleTimeout(),
            limits.messageBytes().value(),
            defaults.maxRetryDelay(),
            defaults.resumeAttempts()));
  }

  Map<String, Upstream> byName() {
    return Map.copyOf(byName);
  }

  @PreDestroy
  void close() {
    byName.values().forEach(Upstream::close);
  }
}
