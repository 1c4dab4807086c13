package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.call.Endpoint;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.log.SharedLog;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.ReplaceableUpstream;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.wiring.config.CheckedConfig;
import dev.holdfast.wiring.config.CurrentConfig;
import dev.holdfast.wiring.config.GatewayConfig;
import dev.holdfast.wiring.config.UpstreamFactory;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.smallrye.config.NameIterator;
import io.vertx.core.Vertx;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The upstreams of the configuration, by name. */
@Singleton
public final class ConfiguredUpstreams {

  private final Map<String, ReplaceableUpstream> byName = new ConcurrentHashMap<>();

  private final CheckedConfig checked;
  private final CurrentConfig current;
  private final UpstreamFactory factory;
  private final UpstreamDecorator decorator;
  private final UpstreamProducer.DefaultUpstream standard;
  private final Optional<AgentUpstream> agents;
  private final InstantSource clock;
  private final Vertx vertx;

  /**
   * Changes by an update: names of upstreams in alphabetical order.
   *
   * @param changed upstreams that use another server for new sessions
   */
  public record Changes(List<String> added, List<String> removed, List<String> changed) {}

  ConfiguredUpstreams(
      CheckedConfig checked,
      CurrentConfig current,
      UpstreamFactory factory,
      UpstreamDecorator decorator,
      UpstreamProducer.DefaultUpstream standard,
      Optional<AgentUpstream> agents,
      InstantSource clock,
      Vertx vertx) {
    this.checked = checked;
    this.current = current;
    this.factory = factory;
    this.decorator = decorator;
    this.standard = standard;
    this.agents = agents;
    this.clock = clock;
    this.vertx = vertx;
    GatewayConfig config = checked.gateway();
    create(config.upstreams())
        .forEach((name, upstream) -> open(name, config.upstreams().get(name), upstream));
    agents.ifPresent(upstream -> open(AgentUpstream.NAME, null, upstream));
    open(Endpoint.DEFAULT_UPSTREAM, config.upstream(), standard.upstream());
  }

  /** Opens sessions of a name at an upstream from now on. */
  private void open(String name, GatewayConfig.@Nullable Server server, Upstream upstream) {
    Upstream decorated = decorator.decorated(name, server, upstream, () -> processes(name));
    ReplaceableUpstream present =
        byName.putIfAbsent(name, new ReplaceableUpstream(decorated, clock));
    if (present != null) {
      present.replace(decorated);
    }
  }

  private Upstream.ProcessCount processes(String name) {
    Upstream upstream = byName.get(name);
    return upstream == null ? Upstream.ProcessCount.NONE : upstream.processes();
  }

  /** Returns whether a reload may change an upstream. The kind of the default one stays. */
  public boolean isReplaceable(String name, GatewayConfig.Server next) {
    return !name.equals(Endpoint.DEFAULT_UPSTREAM)
        || (standard.hasServer() && !kind(next).equals("local"));
  }

  /**
   * Changes the upstreams. Sessions that are open stay with what they have. Not for several threads
   * at once.
   *
   * @param after the configuration of all upstreams from now on, which was checked
   * @param differing names of upstreams whose configuration has changed
   * @throws ConfigurationException when one cannot be created; nothing is changed then
   */
  public Changes update(
      Set<String> before,
      Map<String, GatewayConfig.Server> after,
      Set<String> differing,
      LimitsConfig limits) {
    Map<String, GatewayConfig.Server> configured = new TreeMap<>(after);
    configured
        .entrySet()
        .removeIf(each ->
            before.contains(each.getKey())
                && !(differing.contains(each.getKey())
                    && isReplaceable(each.getKey(), each.getValue())));
    List<String> removed =
        before.stream().filter(name -> !after.containsKey(name)).sorted().toList();
    Map<String, Upstream> created = create(configured);
    // First, so that no session begins without its scope and limits.
    current.update(configured, Set.of(), limits);
    created.forEach((name, upstream) -> {
      open(name, configured.get(name), upstream);
      decorator.monitor.look(name);
    });
    removed.forEach(name -> {
      ReplaceableUpstream upstream = byName.get(name);
      if (upstream != null) {
        upstream.remove();
      }
      decorator.forget(name);
    });
    return new Changes(
        configured.keySet().stream().filter(name -> !before.contains(name)).toList(),
        removed,
        configured.keySet().stream().filter(before::contains).toList());
  }

  private Map<String, Upstream> create(Map<String, GatewayConfig.Server> configured) {
    Map<String, Upstream> created = new HashMap<>();
    try {
      configured.forEach((name, server) ->
          factory.create(vertx, name, server).ifPresent(upstream -> created.put(name, upstream)));
    } catch (ConfigurationException invalid) {
      created.values().forEach(Upstream::close);
      throw invalid;
    }
    return created;
  }

  /**
   * Closes servers that were replaced or removed, and have no sessions any more. Throws {@link
   * SessionStoreException} while the store is away.
   */
  public void closeUnused(SessionUpstreams sessions) {
    Map<String, ReplaceableUpstream> old = new HashMap<>(byName);
    old.values().removeIf(upstream -> !upstream.isChanged());
    if (old.isEmpty()) {
      return;
    }
    Map<String, List<UpstreamLink>> links = sessions.links(old.keySet());
    old.entrySet()
        .removeIf(
            each -> !each.getValue().closeUnused(links.getOrDefault(each.getKey(), List.of())));
    byName.keySet().removeAll(old.keySet());
    current.update(Map.of(), old.keySet(), current.limits());
  }

  /** Returns the name of the upstream that has a key; null for other keys. */
  public static @Nullable String ofKey(String key) {
    NameIterator segments = new NameIterator(key);
    if (!next(segments).equals("holdfast")) {
      return null;
    }
    return switch (next(segments)) {
      case "upstream" -> Endpoint.DEFAULT_UPSTREAM;
      case "upstreams" -> segments.hasNext() ? next(segments) : null;
      default -> null;
    };
  }

  private static String next(NameIterator key) {
    if (!key.hasNext()) {
      return "";
    }
    String segment = key.getNextSegment();
    key.next();
    return segment;
  }

  /** Returns the kind of an upstream, in a word. */
  static String kind(GatewayConfig.Server server) {
    return server.url().isPresent() ? "http" : server.command().isPresent() ? "stdio" : "local";
  }

  /**
   * Returns every upstream by its name, including {@link Endpoint#DEFAULT_UPSTREAM}. The map
   * changes with the configuration.
   */
  Map<String, Upstream> byName() {
    return Collections.unmodifiableMap(byName);
  }

  /** Returns the configuration of the upstreams that open sessions, by name. */
  Map<String, GatewayConfig.Server> servers() {
    Map<String, GatewayConfig.Server> open = new HashMap<>(current.servers());
    open.keySet()
        .removeIf(name -> {
          Upstream upstream = byName.get(name);
          return upstream == null || !upstream.profile().opensSessions();
        });
    return open;
  }

  /** Returns true if {@code /mcp} has a server, or tools other than those of the demo. */
  boolean isDefaultConfigured() {
    return standard.hasServer() || standard.hasTools();
  }

  /** Returns true if {@code /mcp} has all servers. */
  boolean merges() {
    return checked
        .gateway()
        .merge()
        .enabled()
        .orElse(!isDefaultConfigured() && checked.gateway().upstreams().size() > 1);
  }

  boolean servesDemo() {
    return standard.servesDemo();
  }

  /** Continues an agent session whose replica was lost. */
  void adopt(SharedLog.AdoptedStream stream) {
    agents.ifPresent(upstream -> upstream.adopt(stream));
  }

  @PreDestroy
  void close() {
    decorator.monitor.close();
    byName.values().forEach(Upstream::close);
    decorator.close();
  }
}
