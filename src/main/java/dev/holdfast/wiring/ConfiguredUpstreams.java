package dev.holdfast.wiring;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.http.limit.LimitsConfig;
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

/** The upstreams of the configuration. The default one runs local tools if it has no server. */
@Singleton
// The argument records of tools are read by reflection. This one is plain Java, so it cannot
// register itself.
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
      ProcessMode mode,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    String reserved = Session.DEFAULT_UPSTREAM;
    if (config.upstreams().containsKey(reserved)) {
      throw new ConfigurationException(
          "holdfast.upstreams.default is reserved: holdfast.upstream configures the server at"
              + " /mcp");
    }
    UpstreamFactory factory = new UpstreamFactory(vertx, limits, mode.isStdioBridge());
    config
        .upstreams()
        .forEach((name, server) -> {
          String key = "holdfast.upstreams." + name;
          byName.put(
              name,
              factory
                  .create(key, name, server)
                  .orElseThrow(
                      () -> new ConfigurationException(key + " needs a url or a command")));
        });
    ServerFeatures features = new ServerFeatures(tools, resources, prompts);
    byName.put(
        reserved,
        factory
            .create("holdfast.upstream", reserved, config.upstream())
            .orElseGet(() -> new LocalUpstream(features, levels, "holdfast", version)));
  }

  /** Returns every upstream by its name, including {@link Session#DEFAULT_UPSTREAM}. */
  Map<String, Upstream> byName() {
    return Map.copyOf(byName);
  }

  @PreDestroy
  void close() {
    byName.values().forEach(Upstream::close);
  }
}
