package dev.holdfast.wiring.config;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.era.north.EraConfig;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.origin.OriginPolicy;
import dev.holdfast.session.SessionLimits;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** The part of the configuration that a reload may change. Thread-safe. */
@Singleton
public final class CurrentConfig {

  private final Optional<String> agentScope;
  private final Map<String, ViewConfig> merged = new ConcurrentHashMap<>();
  private volatile Values values;

  /** Values that a reload changes at once. */
  private record Values(
      Map<String, GatewayConfig.Server> servers, LimitsConfig limits, SessionLimits sessions) {}

  CurrentConfig(CheckedConfig checked, LimitsConfig limits) {
    agentScope = checked.gateway().agent().scope();
    values = values(checked.gateway().allUpstreams(), limits);
  }

  private Values values(Map<String, GatewayConfig.Server> servers, LimitsConfig limits) {
    Map<String, Integer> byUpstream = new HashMap<>();
    servers.forEach(
        (name, server) -> server.maxSessions().ifPresent(most -> byUpstream.put(name, most)));
    merged.forEach((name, view) -> {
      byUpstream.remove(name);
      view.maxSessions().ifPresent(most -> byUpstream.put(name, most));
    });
    return new Values(
        Map.copyOf(servers),
        limits,
        new SessionLimits(limits.sessions(), limits.sessionsPerAddress(), byUpstream));
  }

  /**
   * Changes the configuration. Not for several threads at once.
   *
   * @param changed new and changed upstreams; all others stay
   * @param removed names of upstreams that have no sessions any more
   */
  public void update(
      Map<String, GatewayConfig.Server> changed, Set<String> removed, LimitsConfig limits) {
    Map<String, GatewayConfig.Server> servers = new HashMap<>(values.servers());
    servers.putAll(changed);
    servers.keySet().removeAll(removed);
    values = values(servers, limits);
  }

  /** Returns the configured upstreams, and the removed ones that still have sessions. */
  public Map<String, GatewayConfig.Server> servers() {
    return values.servers();
  }

  /** Returns the limits of this replica. */
  public LimitsConfig limits() {
    return values.limits();
  }

  /** Returns the limits on sessions. */
  public SessionLimits sessions() {
    return values.sessions();
  }

  /** Limit on the requests of an endpoint; empty for one that has only the common limit. */
  public OptionalInt requests(String upstream) {
    ViewConfig view = merged.get(upstream);
    return view == null ? serverRequests(upstream) : view.maxRequests();
  }

  /**
   * Limit on the requests of a server; empty for one that is unknown, or in this process. With
   * several servers, no single one may use up the common limit.
   */
  public OptionalInt serverRequests(String upstream) {
    Values now = values;
    GatewayConfig.Server server = now.servers().get(upstream);
    if (server == null) {
      return OptionalInt.empty();
    }
    int common = now.limits().requests();
    int each = now.servers().size() == 1 ? common : (common + 1) / 2;
    return OptionalInt.of(server.maxRequests().orElse(each));
  }

  /** Returns the time after which calls of an upstream are held; empty for the common one. */
  public Optional<Duration> holdAfter(String upstream) {
    GatewayConfig.Server server = values.servers().get(upstream);
    return server == null ? Optional.empty() : server.holdAfter();
  }

  /** Returns the service of an upstream for clients without sessions; empty for the common one. */
  public Optional<EraConfig.NewClients> newClients(String upstream) {
    GatewayConfig.Server server = values.servers().get(upstream);
    return server == null ? Optional.empty() : server.newClients();
  }

  /** The headers of clients that go to upstreams. */
  @Produces
  @Singleton
  OriginPolicy.PageHeaders pageHeaders() {
    return () ->
        values.servers().values().stream()
            .flatMap(server -> server.forwardHeaders().stream().flatMap(List::stream))
            .map(String::strip)
            .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Notes an endpoint for several servers, before any request. */
  public void merges(String name, ViewConfig view) {
    merged.put(name, view);
    values = values(values.servers(), values.limits());
  }

  /** Returns the scope that an endpoint requires. */
  public Optional<String> endpointScope(String upstream) {
    ViewConfig view = merged.get(upstream);
    return view == null ? scope(upstream) : view.scope();
  }

  /** Returns the scope that an upstream requires. */
  public Optional<String> scope(String upstream) {
    GatewayConfig.Server server = values.servers().get(upstream);
    if (server != null) {
      return server.scope();
    }
    return upstream.equals(AgentUpstream.NAME) ? agentScope : Optional.empty();
  }
}
