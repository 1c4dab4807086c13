package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.call.Endpoint;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.demo.Demo;
import dev.holdfast.era.south.ResultCache;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.log.EventLog;
import dev.holdfast.record.TapeException;
import dev.holdfast.session.SessionStore;
import dev.holdfast.text.Urls;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.ResourceTemplate;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LocalUpstream.ServerFeatures;
import dev.holdfast.upstream.local.server.LogLevelStore;
import dev.holdfast.wiring.config.CheckedConfig;
import dev.holdfast.wiring.config.GatewayConfig;
import dev.holdfast.wiring.config.TlsConfigurations;
import dev.holdfast.wiring.config.UpstreamFactory;
import io.quarkus.arc.All;
import io.quarkus.runtime.annotations.RegisterForReflection;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.quarkus.runtime.configuration.MemorySize;
import io.vertx.core.Vertx;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Produces the factory of upstreams, and the upstreams that are not behind a name of their own. */
// The argument records of tools are read by reflection. This one is plain Java, so it cannot
// register itself.
@RegisterForReflection(targets = NoArguments.class)
final class UpstreamProducer {

  private static final ServerFeatures NO_FEATURES =
      new ServerFeatures(List.of(), List.of(), List.of());

  private UpstreamProducer() {}

  /**
   * The upstream at {@code /mcp}.
   *
   * @param hasServer whether it is a server of the configuration
   * @param hasTools whether it is a tape, or has tools, resources or prompts other than the demo
   * @param servesDemo whether it has the demo tools
   */
  record DefaultUpstream(
      Upstream upstream, boolean hasServer, boolean hasTools, boolean servesDemo) {}

  @Produces
  @Singleton
  static UpstreamFactory factory(
      LimitsConfig limits,
      ProcessMode mode,
      TraceProducer traces,
      TlsConfigurations tls,
      ClientTokens clientTokens,
      SessionStore sessions,
      CheckedConfig checked) {
    Optional<MemorySize> cacheBytes = checked.gateway().eras().cacheBytes();
    return new UpstreamFactory(
        limits,
        person(mode),
        traces.headers(),
        name -> tls.named("The key tls of an upstream", name),
        clientTokens,
        ByteBudget.ofHeap(8, Long.MAX_VALUE),
        sessions,
        new ResultCache(cacheBytes.map(MemorySize::asLongValue).orElse(0L)));
  }

  private static UpstreamFactory.Person person(ProcessMode mode) {
    if (!mode.isStdioBridge()) {
      return UpstreamFactory.Person.NONE;
    }
    return mode.opensBrowser()
        ? UpstreamFactory.Person.WITH_BROWSER
        : UpstreamFactory.Person.WITHOUT_BROWSER;
  }

  @Produces
  @Singleton
  static Optional<AgentUpstream> agents(
      CheckedConfig checked,
      UpstreamFactory factory,
      EventLog log,
      LogLevelStore logLevels,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    GatewayConfig.Agent agent = checked.gateway().agent();
    return agent
        .command()
        .map(command -> factory.createAgents(command, agent, log, logLevels, version));
  }

  /** The tools, resources and prompts of the program. */
  @Produces
  @Singleton
  static ServerFeatures features(
      @All List<Tool<?>> tools,
      @All List<Resource> resources,
      @All List<ResourceTemplate> templates,
      @All List<Prompt<?>> prompts) {
    return new ServerFeatures(tools, resources, templates, prompts);
  }

  /**
   * Creates the default upstream: the tape that is replayed, or the configured server, or else the
   * tools of this process.
   */
  @Produces
  @Singleton
  static DefaultUpstream defaultUpstream(
      CheckedConfig checked,
      UpstreamFactory factory,
      ServerFeatures features,
      LogLevelStore logLevels,
      ProcessMode mode,
      Vertx vertx,
      @ConfigProperty(name = "quarkus.http.host") String host,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    GatewayConfig config = checked.gateway();
    Optional<Upstream> replayed = replay(mode);
    Optional<Upstream> server =
        replayed.or(() -> factory.create(vertx, Endpoint.DEFAULT_UPSTREAM, config.upstream()));
    if (server.isPresent()) {
      return new DefaultUpstream(server.get(), replayed.isEmpty(), replayed.isPresent(), false);
    }
    boolean demo = servesDemo(config.demoTools(), mode, host);
    ServerFeatures served = demo ? withDemo(features) : features;
    if (config.upstreams().isEmpty()
        && config.agent().command().isEmpty()
        && served.equals(NO_FEATURES)
        && config.demoTools() == GatewayConfig.DemoTools.LOCAL) {
      throw new ConfigurationException(
          "There is nothing to serve: set holdfast.upstream.url or holdfast.upstream.command. For"
              + " the demo tools on "
              + host
              + ", which other machines can reach, set holdfast.demo-tools=always");
    }
    int maxMessageBytes = factory.limits().serverMessageBytes().value();
    return new DefaultUpstream(
        new LocalUpstream(
            served,
            logLevels,
            "holdfast",
            version,
            maxMessageBytes,
            factory.held(),
            config.tools().computeThreads().orElse(0)),
        false,
        !features.equals(NO_FEATURES),
        demo);
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
      case LOCAL -> !mode.serves() || Urls.isLoopback(host);
      case ALWAYS -> true;
      case NEVER -> false;
    };
  }

  private static ServerFeatures withDemo(ServerFeatures own) {
    return new ServerFeatures(
        join(Demo.TOOLS, own.tools()),
        join(Demo.RESOURCES, own.resources()),
        own.templates(),
        join(Demo.PROMPTS, own.prompts()));
  }

  private static <T> List<T> join(List<T> first, List<T> second) {
    return Stream.concat(first.stream(), second.stream()).toList();
  }
}
