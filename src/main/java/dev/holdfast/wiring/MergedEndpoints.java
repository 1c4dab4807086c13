package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AccessTokens;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Endpoint;
import dev.holdfast.merge.MergeSettings;
import dev.holdfast.merge.MergedUpstream;
import dev.holdfast.session.SessionStore;
import dev.holdfast.text.NamePatterns;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.wiring.config.CheckedConfig;
import dev.holdfast.wiring.config.CurrentConfig;
import dev.holdfast.wiring.config.GatewayConfig;
import dev.holdfast.wiring.config.UpstreamFactory;
import dev.holdfast.wiring.config.ViewConfig;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** The endpoints for several servers: {@code /mcp} if it merges, and the views. */
@Singleton
public final class MergedEndpoints {

  private final Map<String, MergedUpstream> byName = new HashMap<>();

  MergedEndpoints(
      CheckedConfig checked,
      CurrentConfig current,
      ConfiguredUpstreams configured,
      UpstreamFactory factory,
      SessionStore store,
      AccessKeys keys,
      AccessTokens tokens,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    GatewayConfig config = checked.gateway();
    Map<String, ViewConfig> views = new HashMap<>();
    config.views().forEach((name, view) -> views.put(Endpoint.VIEWS + name, view));
    if (configured.merges()) {
      views.put(Endpoint.DEFAULT_UPSTREAM, config.merge());
    }
    views.forEach((name, view) -> {
      current.merges(name, view.scope());
      byName.put(
          name,
          new MergedUpstream(
              settings(name, view),
              () -> members(configured, view),
              current::scope,
              (server, caller) ->
                  (!keys.areRequired() && !tokens.areAccepted())
                      || mayUse(current.scope(server), caller),
              store,
              factory.held(),
              version));
    });
  }

  private static boolean mayUse(Optional<String> scope, Caller caller) {
    return scope.isEmpty() || caller.scopes().contains(scope.get());
  }

  /** The servers of a view; without agents, and without demo tools, unless it names them. */
  private static Map<String, Upstream> members(ConfiguredUpstreams configured, ViewConfig view) {
    if (view.servers().isPresent()) {
      return configured.byName();
    }
    Map<String, Upstream> servers = new HashMap<>(configured.byName());
    servers.remove(AgentUpstream.NAME);
    if (!configured.isDefaultConfigured()) {
      servers.remove(Endpoint.DEFAULT_UPSTREAM);
    }
    return servers;
  }

  private static MergeSettings settings(String name, ViewConfig view) {
    Map<String, String> renames = new HashMap<>();
    view.rename().forEach((renamed, original) -> renames.put(original.strip(), renamed));
    return new MergeSettings(
        name,
        view.servers().orElse(List.of()),
        view.naming(),
        renames,
        view.allow().map(NamePatterns::of).orElse(null),
        view.deny().map(NamePatterns::of).orElse(null),
        view.patience(),
        view.search());
  }

  /** The endpoints in alphabetical order, by the names that they have as upstreams. */
  Map<String, MergedUpstream> all() {
    return new TreeMap<>(byName);
  }

  /** The endpoints by the names that they have as upstreams. */
  Map<String, Upstream> byName() {
    return Collections.unmodifiableMap(byName);
  }

  @PreDestroy
  void close() {
    byName.values().forEach(MergedUpstream::close);
  }
}
