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
import java.util.stream.Collectors;

/** The part of the configuration that a reload may change. Thread-safe. */
@Singleton
public final class CurrentConfig {

  private final Optional<String> agentScope;
  private final Map<String, Optional<String>> merged = new HashMap<>();
  private volatile Values values;

  /** Values that a reload changes at once. */
  private record Values(
      Map<String, GatewayConfig.Server> servers, LimitsConfig limits, SessionLimits sessions) {}

  CurrentConfig(CheckedConfig checked, LimitsConfig limits) {
    agentScope = checked.gateway().agent().scope();
    values = values(checked.gateway().allUpstreams(), limits);
  }

  private static Values values(Map<String, GatewayConfig.Server> servers, LimitsConfig limits) {
    Map<String, Integer> byUpstream = new HashMap<>();
    servers.forEach(
        (name, server) -> server.maxSessions().ifPresent(most -> byUpstream.put(name, most)));
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

  /**
   * Limit on the requests of an upstream; empty for one that is unknown, or in this process. With
   * several upstreams, no single one may use up the common limit.
   */
  public OptionalInt requests(String upstream) {
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

  /** Notes an endpoint for several servers, with the scope that it requires. */
  public void merges(String name, Optional<String> scope) {
    merged.put(name, scope);
  }

  /** Returns the scope that an endpoint requires. */
  public Optional<String> endpointScope(String upstream) {
    Optional<String> scope = merged.get(upstream);
    return scope == null ? scope(upstream) : scope;
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
