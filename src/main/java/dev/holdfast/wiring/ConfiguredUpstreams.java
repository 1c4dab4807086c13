package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.demo.Demo;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.intercept.InterceptedUpstream;
import dev.holdfast.intercept.Interceptor;
import dev.holdfast.log.SharedLog;
import dev.holdfast.observe.Metrics;
import dev.holdfast.record.TapeException;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Upstream;
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
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  private final Map<String, Upstream> byName = new HashMap<>();

  private final ConfiguredTapes tapes;

  /** Whether the servers are up. */
  @Produces final UpstreamMonitor monitor = new UpstreamMonitor();

  private final boolean servesDemo;

  /** Null without agents. */
  private final @Nullable AgentUpstream agents;

  ConfiguredUpstreams(
      CheckedConfig checked,
      LimitsConfig limits,
      @All List<Tool<?>> tools,
      @All List<Resource> resources,
      @All List<Prompt<?>> prompts,
      StoreProducer stores,
      @All List<Interceptor> own,
      TraceProducer traces,
      Metrics metrics,
      Vertx vertx,
      ProcessMode mode,
      @ConfigProperty(name = "quarkus.http.host") String host,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    GatewayConfig config = checked.gateway();
    String reserved = Session.DEFAULT_UPSTREAM;
    tapes = new ConfiguredTapes(config.record(), stores.clock);
    UpstreamFactory factory = new UpstreamFactory(limits, mode.isStdioBridge(), traces.headers());
    config
        .upstreams()
        .forEach((name, server) ->
            factory.create(vertx, name, server).ifPresent(upstream -> byName.put(name, upstream)));
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
      byName.put(AgentUpstream.NAME, agents);
    }
    Optional<Upstream> server =
        replay(mode).or(() -> factory.create(vertx, reserved, config.upstream()));
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
    servesDemo = demo && server.isEmpty();
    byName.put(
        reserved,
        server.orElseGet(() -> new LocalUpstream(features, stores.logLevels, "holdfast", version)));
    Map<String, GatewayConfig.Server> servers = config.allUpstreams();
    if (mode.hasClients()) {
      byName.replaceAll((name, upstream) -> watched(name, servers.get(name), upstream));
    }
    byName.replaceAll((name, upstream) -> metrics.measured(name, upstream, monitor));
    byName.replaceAll(traces::traced);
    byName.replaceAll((name, upstream) ->
        InterceptedUpstream.of(upstream, name, ConfiguredInterceptors.of(servers.get(name), own)));
    if (mode.hasClients()) {
      // Last, so that tapes have what clients send and get.
      byName.replaceAll((name, upstream) -> tapes.recorded(name, servers.get(name), upstream));
    }
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
      case LOCAL -> !mode.serves() || isLoopback(host);
      case ALWAYS -> true;
      case NEVER -> false;
    };
  }

  /** Whether only programs of this machine reach a server on a host. */
  static boolean isLoopback(String host) {
    try {
      return Stream.of(InetAddress.getAllByName(host)).allMatch(InetAddress::isLoopbackAddress);
    } catch (UnknownHostException unknown) {
      return false;
    }
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

  /** Returns every upstream by its name, including {@link Session#DEFAULT_UPSTREAM}. */
  Map<String, Upstream> byName() {
    return Map.copyOf(byName);
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
