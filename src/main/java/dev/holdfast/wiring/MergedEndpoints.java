package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.auth.AuthConfig;
import dev.holdfast.auth.RequiredScopes;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Endpoint;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.merge.MergeSettings;
import dev.holdfast.merge.MergedUpstream;
import dev.holdfast.merge.ServerRules;
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
      RequestLimit requests,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    GatewayConfig config = checked.gateway();
    AuthConfig auth = checked.mapping(AuthConfig.class);
    ServerRules rules =
        new Rules(
            current,
            new RequiredScopes(current::scope),
            requests,
            auth.keys().isEmpty() && auth.issuers().isEmpty());
    Map<String, ViewConfig> views = new HashMap<>();
    config.views().forEach((name, view) -> views.put(Endpoint.VIEWS + name, view));
    if (configured.merges()) {
      views.put(Endpoint.DEFAULT_UPSTREAM, config.merge());
    }
    views.forEach((name, view) -> {
      current.merges(name, view);
      byName.put(
          name,
          new MergedUpstream(
              settings(name, view),
              () -> members(configured, view),
              rules,
              store,
              factory.held(),
              version));
    });
  }

  /**
   * The rules of the configuration.
   *
   * @param open whether everybody may use everything
   */
  private record Rules(
      CurrentConfig current, RequiredScopes scopes, RequestLimit requests, boolean open)
      implements ServerRules {

    @Override
    public Optional<String> scope(String server) {
      return current.scope(server);
    }

    @Override
    public boolean mayUse(String server, Caller caller) {
      return open || scopes.missing(server, caller).isEmpty();
    }

    @Override
    public boolean tryEnter(String server) {
      return requests.tryEnter(counter(server), current.serverRequests(server));
    }

    @Override
    public void leave(String server) {
      requests.leave(counter(server));
    }

    /** The name by which requests to a server count: its own is that of the endpoint at /mcp. */
    private static String counter(String server) {
      return server.equals(Endpoint.DEFAULT_UPSTREAM) ? "" : server;
    }
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
