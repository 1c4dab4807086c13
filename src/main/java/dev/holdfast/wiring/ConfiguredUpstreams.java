package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.audit.AuditLog;
import dev.holdfast.auth.ClientTokens;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.demo.Demo;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.intercept.InterceptedMessage;
import dev.holdfast.intercept.InterceptedUpstream;
import dev.holdfast.intercept.Interceptor;
import dev.holdfast.log.SharedLog;
import dev.holdfast.observe.Metrics;
import dev.holdfast.record.TapeException;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.ReplaceableUpstream;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.server.LocalUpstream;
import io.quarkus.arc.All;
import io.quarkus.runtime.annotations.RegisterForReflection;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.vertx.core.Vertx;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.Nullable;

/** The upstreams of the configuration. The default one runs local tools if it has no server. */
@Singleton
// The argument records of tools are read by reflection. This one is plain Java, so it cannot
// register itself.
@RegisterForReflection(targets = NoArguments.class)
final class ConfiguredUpstreams {

  private static final LocalUpstream.ServerFeatures NOTHING =
      new LocalUpstream.ServerFeatures(List.of(), List.of(), List.of());

  private final Map<String, ReplaceableUpstream> byName = new ConcurrentHashMap<>();

  /** The configuration of the servers, and of the removed ones that still have sessions. */
  private final Map<String, GatewayConfig.Server> servers = new ConcurrentHashMap<>();

  private final CurrentConfig current;
  private final UpstreamFactory factory;
  private final ConfiguredTapes tapes;
  private final StoreProducer stores;
  private final List<Interceptor> own;
  private final TraceProducer traces;
  private final AuditLog audit;
  private final Metrics metrics;
  private final Vertx vertx;
  private final boolean hasClients;

  /** Whether the servers are up. */
  @Produces final UpstreamMonitor monitor = new UpstreamMonitor();

  private final boolean servesDemo;

  /** Whether the default upstream is a server of the configuration. */
  private final boolean hasDefaultServer;

  /** Null without agents. */
  private final @Nullable AgentUpstream agents;

  /**
   * What an update has changed: names of upstreams in alphabetical order.
   *
   * @param changed upstreams that use another server for new sessions
   */
  record Changes(List<String> added, List<String> removed, List<String> changed) {}

  ConfiguredUpstreams(
      CheckedConfig checked,
      CurrentConfig current,
      LimitsConfig limits,
      @All List<Tool<?>> tools,
      @All List<Resource> resources,
      @All List<Prompt<?>> prompts,
      StoreProducer stores,
      @All List<Interceptor> own,
      TraceProducer traces,
      AuditLog audit,
      Metrics metrics,
      TlsConfigurations tls,
      ClientTokens clientTokens,
      Vertx vertx,
      ProcessMode mode,
      @ConfigProperty(name = "quarkus.http.host") String host,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    this.current = current;
    this.stores = stores;
    this.own = own;
    this.traces = traces;
    this.audit = audit;
    this.metrics = metrics;
    this.vertx = vertx;
    hasClients = mode.hasClients();
    GatewayConfig config = checked.gateway();
    String reserved = Session.DEFAULT_UPSTREAM;
    tapes = new ConfiguredTapes(config.record(), stores.clock);
    ByteBudget held = ByteBudget.ofHeap(8, Long.MAX_VALUE);
    factory =
        new UpstreamFactory(
            limits,
            mode.isStdioBridge(),
            mode.opensBrowser(),
            traces.headers(),
            tls::named,
            clientTokens,
            held);
    servers.putAll(config.allUpstreams());
    config.upstreams().forEach(this::open);
    boolean demo = servesDemo(config.demoTools(), mode, host);
    LocalUpstream.ServerFeatures features =
        new LocalUpstream.ServerFeatures(
            demo ? join(Demo.TOOLS, tools) : tools,
            demo ? join(Demo.RESOURCES, resources) : resources,
            demo ? join(Demo.PROMPTS, prompts) : prompts);
    agents =
        config
            .agent()
            .command()
            .map(command ->
                factory.createAgents(
                    command, config.agent(), stores.log, stores.logLevels, version))
            .orElse(null);
    if (agents != null) {
      open(AgentUpstream.NAME, null, agents);
    }
    Optional<Upstream> replayed = replay(mode);
    Optional<Upstream> server =
        replayed.or(() -> factory.create(vertx, reserved, config.upstream()));
    if (server.isEmpty()
        && byName.isEmpty()
        && features.equals(NOTHING)
        && config.demoTools() == GatewayConfig.DemoTools.LOCAL) {
      throw new ConfigurationException(
          "There is nothing to serve: set holdfast.upstream.url or holdfast.upstream.command. For"
              + " the demo tools on "
              + host
              + ", which other machines can reach, set holdfast.demo-tools=always");
    }
    hasDefaultServer = replayed.isEmpty() && server.isPresent();
    servesDemo = demo && server.isEmpty();
    open(
        reserved,
        config.upstream(),
        server.orElseGet(() ->
            new LocalUpstream(
                features,
                stores.logLevels,
                "holdfast",
                version,
                limits.serverMessageBytes().value(),
                held)));
  }

  private void open(String name, GatewayConfig.Server server) {
    factory.create(vertx, name, server).ifPresent(upstream -> open(name, server, upstream));
  }

  /** Opens sessions of a name at an upstream from now on. */
  private void open(String name, GatewayConfig.@Nullable Server server, Upstream upstream) {
    Upstream decorated = decorated(name, server, upstream);
    ReplaceableUpstream present =
        byName.putIfAbsent(name, new ReplaceableUpstream(decorated, stores.clock));
    if (present != null) {
      present.replace(decorated);
    }
  }

  private Upstream decorated(
      String name, GatewayConfig.@Nullable Server server, Upstream upstream) {
    Upstream watched = hasClients ? watched(name, server, upstream) : upstream;
    Upstream measured = metrics.measured(name, watched, monitor, () -> processes(name));
    Upstream intercepted =
        InterceptedUpstream.of(
            traces.traced(name, measured),
            name,
            ConfiguredInterceptors.of(server, own, this::toolDenied));
    // Last, so that tapes have what clients send and get.
    return hasClients ? tapes.recorded(name, server, intercepted) : intercepted;
  }

  private void toolDenied(InterceptedMessage call, String reason) {
    audit.toolDenied(call.principal(), call.upstream(), call.session(), call.tool(), reason);
  }

  private Upstream.ProcessCount processes(String name) {
    Upstream upstream = byName.get(name);
    return upstream == null ? Upstream.ProcessCount.NONE : upstream.processes();
  }

  /** Whether a reload may change an upstream. The kind of the default one stays. */
  boolean isReplaceable(String name, UpstreamSettings next) {
    return !name.equals(Session.DEFAULT_UPSTREAM) || (hasDefaultServer && next.hasServer());
  }

  /**
   * Changes the upstreams. Sessions that are open stay with what they have. Not for several threads
   * at once.
   *
   * @param before the configuration of all upstreams so far
   * @param after the configuration of all upstreams from now on, which was checked
   * @throws ConfigurationException when one cannot be created; nothing is changed then
   */
  Changes update(
      Map<String, UpstreamSettings> before,
      Map<String, UpstreamSettings> after,
      LimitsConfig limits) {
    List<String> added = new ArrayList<>();
    List<String> changed = new ArrayList<>();
    new TreeMap<>(after)
        .forEach((name, settings) -> {
          if (!before.containsKey(name)) {
            added.add(name);
          } else if (!settings.equals(before.get(name)) && isReplaceable(name, settings)) {
            changed.add(name);
          }
        });
    List<String> removed =
        before.keySet().stream().filter(name -> !after.containsKey(name)).sorted().toList();
    Map<String, GatewayConfig.Server> configured = new HashMap<>();
    Stream.concat(added.stream(), changed.stream())
        .forEach(name -> configured.put(name, Objects.requireNonNull(after.get(name)).server()));
    Map<String, Upstream> created = create(configured);
    servers.putAll(configured);
    // First, so that no session begins without its scope and limits.
    current.update(servers, limits);
    created.forEach((name, upstream) -> {
      open(name, configured.get(name), upstream);
      monitor.look(name);
    });
    removed.forEach(name -> {
      ReplaceableUpstream upstream = byName.get(name);
      if (upstream != null) {
        upstream.remove();
      }
      monitor.forget(name);
      metrics.forget(name);
    });
    return new Changes(added, removed, changed);
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
  void closeUnused(SessionUpstreams sessions) {
    Map<String, ReplaceableUpstream> old = new HashMap<>(byName);
    old.values().removeIf(upstream -> !upstream.isChanged());
    if (old.isEmpty()) {
      return;
    }
    Map<String, List<UpstreamLink>> links = sessions.links(old.keySet());
    old.forEach((name, upstream) -> {
      if (upstream.closeUnused(links.getOrDefault(name, List.of()))) {
        byName.remove(name);
        servers.remove(name);
      }
    });
    current.update(servers, current.limits());
  }

  private static Optional<Upstream> replay(ProcessMode mode) {
    try {
      return mode.replay();
    } catch (TapeException invalid) {
      throw new ConfigurationException(invalid.getMessage());
    }
  }

  private static boolean servesDemo(GatewayConfig.DemoTools when, ProcessMode mode, String host) {
    return switch (when) {
      case LOCAL -> !mode.serves() || CheckedConfig.isLoopback(host);
      case ALWAYS -> true;
      case NEVER -> false;
    };
  }

  /** Where clients reach an upstream. */
  static String path(String upstream) {
    return upstream.equals(Session.DEFAULT_UPSTREAM) ? "/mcp" : "/servers/" + upstream + "/mcp";
  }

  /** What an upstream is, in a word. */
  static String kind(GatewayConfig.Server server) {
    return server.url().isPresent() ? "http" : server.command().isPresent() ? "stdio" : "local";
  }

  private static <T> List<T> join(List<T> first, List<T> second) {
    return Stream.concat(first.stream(), second.stream()).toList();
  }

  /** Local tools, and agents, are always there. */
  private Upstream watched(String name, GatewayConfig.@Nullable Server server, Upstream upstream) {
    return server == null || (server.url().isEmpty() && server.command().isEmpty())
        ? upstream
        : monitor.watch(name, upstream, () -> UpstreamLook.problem(server));
  }

  /**
   * Returns every upstream by its name, including {@link Session#DEFAULT_UPSTREAM}. The map changes
   * with the configuration.
   */
  Map<String, Upstream> byName() {
    return Collections.unmodifiableMap(byName);
  }

  /** Returns the configuration of the upstreams that open sessions, by name. */
  Map<String, GatewayConfig.Server> servers() {
    Map<String, GatewayConfig.Server> open = new HashMap<>(servers);
    open.keySet()
        .removeIf(name -> {
          Upstream upstream = byName.get(name);
          return upstream == null || !upstream.opensSessions();
        });
    return open;
  }

  /** Whether the default upstream has the demo tools. */
  boolean servesDemo() {
    return servesDemo;
  }

  /** Continues an agent session whose replica was lost. */
  void adopt(SharedLog.AdoptedStream stream) {
    if (agents != null) {
      agents.adopt(stream);
    }
  }

  @PreDestroy
  void close() {
    monitor.close();
    byName.values().forEach(Upstream::close);
    tapes.close();
  }
}
