package dev.holdfast.wiring;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.http.LimitsConfig;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.logging.LogLevelStore;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.ServerFeatures;
import io.quarkus.arc.All;
import io.quarkus.runtime.annotations.RegisterForReflection;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.vertx.core.Vertx;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** The configured upstreams. */
@Singleton
// Records of tools are read by reflection; this one knows nothing of Quarkus.
@RegisterForReflection(targets = NoArguments.class)
final class ConfiguredUpstreams {

  private final Map<String, Upstream> byName = new HashMap<>();

  ConfiguredUpstreams(
      GatewayConfig config,
      LimitsConfig limits,
      @All List<Tool<?>> tools,
      @All List<Resource> resources,
      @All List<Prompt<?>> prompts,
      LogLevelStore levels,
      Vertx vertx,
      ProcessMode purpose,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    if (config.upstreams().containsKey(Session.DEFAULT_UPSTREAM)) {
      throw new ConfigurationException(
          "holdfast.upstreams.default is no name for a server: holdfast.upstream configures the one"
              + " at /mcp");
    }
    ServerFeatures offer = new ServerFeatures(tools, resources, prompts);
    UpstreamFactory kinds = new UpstreamFactory(vertx, limits, purpose.isOnlyWay());
    config
        .upstreams()
        .forEach((name, server) -> {
          String key = "holdfast.upstreams." + name;
          Upstream upstream =
              kinds
                  .of(key, name, server)
                  .orElseThrow(() ->
                      new ConfigurationException(key + ".url is missing, or " + key + ".command"));
          byName.put(name, upstream);
        });
    byName.put(
        Session.DEFAULT_UPSTREAM,
        kinds
            .of("holdfast.upstream", Session.DEFAULT_UPSTREAM, config.upstream())
            .orElseGet(() -> new LocalUpstream(offer, levels, "holdfast", version)));
  }

  Map<String, Upstream> byName() {
    return Map.copyOf(byName);
  }

  @PreDestroy
  void close() {
    byName.values().forEach(Upstream::close);
  }
}
