package dev.holdfast.wiring;

import dev.holdfast.agent.AgentSettings;
import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.demo.Demo;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.intercept.InterceptedUpstream;
import dev.holdfast.intercept.Interceptor;
import dev.holdfast.log.SharedLog;
import dev.holdfast.record.TapeException;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.http.DetectingUpstream;
import dev.holdfast.upstream.http.HttpUpstream;
import dev.holdfast.upstream.http.HttpUpstreamSettings;
import dev.holdfast.upstream.http.LegacyUpstream;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.stdio.CommandLine;
import dev.holdfast.upstream.stdio.StdioUpstream;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import io.quarkus.arc.All;
import io.quarkus.runtime.annotations.RegisterForReflection;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.vertx.core.Vertx;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.Nullable;

/** The upstreams of the configuration. The default one runs local tools if it has no server. */
@Singleton
// The argument records of tools are read by reflection. This one is plain Java, so it cannot
// register itself.
@RegisterForReflection(targets = NoArguments.class)
final class ConfiguredUpstreams {

  /** Time for an agent to end after SIGTERM. */
  private static final Duration AGENT_STOP_GRACE = Duration.ofSeconds(2);

  private static final LocalUpstream.ServerFeatures NOTHING =
      new LocalUpstream.ServerFeatures(List.of(), List.of(), List.of());

  private final Map<String, Upstream> byName = new HashMap<>();

  private final ConfiguredTapes tapes;

  /** Null without agents. */
  private final @Nullable AgentUpstream agents;

  ConfiguredUpstreams(
      GatewayConfig config,
      LimitsConfig limits,
      @All List<Tool<?>> tools,
      @All List<Resource> resources,
      @All List<Prompt<?>> prompts,
      StoreProducer stores,
      @All List<Interceptor> own,
      TraceProducer traces,
      Vertx vertx,
      ProcessMode mode,
      @ConfigProperty(name = "quarkus.http.host") String host,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    String reserved = Session.DEFAULT_UPSTREAM;
    if (config.upstreams().containsKey(reserved)) {
      throw new ConfigurationException(
          "holdfast.upstreams.default is reserved: holdfast.upstream configures the server at"
              + " /mcp");
    }
    tapes = new ConfiguredTapes(config.record(), stores.clock);
    Factory factory = new Factory(vertx, limits, mode.isStdioBridge(), traces.headers());
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
            .map(command -> factory.createAgents(command, config.agent(), stores, version))
            .orElse(null);
    if (agents != null && byName.put(AgentUpstream.NAME, agents) != null) {
      throw new ConfigurationException(
          "holdfast.upstreams.agent and holdfast.agent.command exclude each other: give the"
              + " upstream another name");
    }
    Optional<Upstream> server =
        replay(mode).or(() -> factory.create("holdfast.upstream", reserved, config.upstream()));
    if (server.isEmpty()
        && byName.isEmpty()
        && features.equals(NOTHING)
        && config.demoTools() == GatewayConfig.DemoTools.LOCAL) {
      throw new ConfigurationException(
          "There is nothing to serve: set holdfast.upstream.url or holdfast.upstream.command. Demo"
              + " tools are served only while quarkus.http.host is a loopback address, not "
              + host
              + ", or with holdfast.demo-tools=always");
    }
    byName.put(
        reserved,
        server.orElseGet(() -> new LocalUpstream(features, stores.logLevels, "holdfast", version)));
    byName.replaceAll(traces::traced);
    Map<String, GatewayConfig.Server> servers = config.allUpstreams();
    byName.replaceAll((name, upstream) ->
        InterceptedUpstream.of(
            upstream, name, ConfiguredInterceptors.of(name, servers.get(name), own)));
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

  private static boolean isLoopback(String host) {
    try {
      return Stream.of(InetAddress.getAllByName(host)).allMatch(InetAddress::isLoopbackAddress);
    } catch (UnknownHostException unknown) {
      return false;
    }
  }

  private static <T> List<T> join(List<T> first, List<T> second) {
    return Stream.concat(first.stream(), second.stream()).toList();
  }

  /** Returns every upstream by its name, including {@link Session#DEFAULT_UPSTREAM}. */
  Map<String, Upstream> byName() {
    return Map.copyOf(byName);
  }

  /** Continues an agent session whose replica was lost. */
  void adopt(SharedLog.AdoptedStream stream) {
    if (agents != null) {
      agents.adopt(stream);
    }
  }

  @PreDestroy
  void close() {
    byName.values().forEach(Upstream::close);
    tapes.close();
  }

  /**
   * Creates upstreams that have a server.
   *
   * @param patient whether upstreams retry for as long as it takes, see {@link
   *     HttpUpstreamSettings#patient()}
   * @param traceHeaders as in {@link HttpUpstreamSettings}
   */
  record Factory(
      Vertx vertx,
      LimitsConfig limits,
      boolean patient,
      @Nullable Supplier<Map<String, String>> traceHeaders) {

    /**
     * Creates an upstream.
     *
     * @param key prefix of its configuration keys
     * @param name its name in log messages
     * @return empty if neither a URL nor a command is configured
     * @throws ConfigurationException if the configuration is invalid
     */
    Optional<Upstream> create(String key, String name, GatewayConfig.Server server) {
      if (server.url().isPresent() && server.command().isPresent()) {
        throw new ConfigurationException(
            key + ".url and " + key + ".command exclude each other: configure one of them");
      }
      try {
        return create(name, server);
      } catch (IllegalArgumentException invalid) {
        // Without the cause: Quarkus prints a stack trace unless the innermost exception is a
        // ConfigurationException.
        throw new ConfigurationException(
            key
                + " cannot be used"
                + server.url().map(Factory::withoutSecrets).orElse("")
                + ": "
                + invalid.getMessage());
      }
    }

    private Optional<Upstream> create(String name, GatewayConfig.Server server) {
      Optional<HttpUpstreamSettings> http = server.url().map(url -> settings(url, server));
      Optional<StdioUpstreamSettings> stdio =
          server.command().map(command -> settings(name, command, server));
      int maxSessions = server.maxConnections();
      boolean respawn = server.respawn();
      return switch (server.transport()) {
        case AUTO ->
            http.<Upstream>map(
                    found -> new DetectingUpstream(vertx, found, name, maxSessions, respawn))
                .or(() -> stdio.map(StdioUpstream::new));
        case STREAMABLE_HTTP -> Optional.of(new HttpUpstream(vertx, required(http, "url")));
        case SSE ->
            Optional.of(
                new LegacyUpstream(vertx, required(http, "url"), name, maxSessions, respawn));
        case STDIO -> Optional.of(new StdioUpstream(required(stdio, "command")));
      };
    }

    private static <T> T required(Optional<T> settings, String key) {
      return settings.orElseThrow(
          () -> new IllegalArgumentException("the configured transport needs a " + key));
    }

    private HttpUpstreamSettings settings(URI url, GatewayConfig.Server server) {
      Map<String, String> headers = new HashMap<>();
      server.headers().forEach((name, value) -> headers.put(name.replace('.', '-'), value));
      HttpUpstreamSettings settings =
          new HttpUpstreamSettings(
              url,
              headers,
              server.connectTimeout(),
              server.firstByteTimeout(),
              server.idleTimeout(),
              limits.messageBytes().value(),
              HttpUpstreamSettings.Reconnection.DEFAULT,
              server.maxConnections(),
              traceHeaders);
      return patient ? settings.patient() : settings;
    }

    /** Creates the upstream that runs agents. Throws {@link ConfigurationException}. */
    AgentUpstream createAgents(
        String command, GatewayConfig.Agent agent, StoreProducer stores, String version) {
      try {
        StdioUpstreamSettings process =
            new StdioUpstreamSettings(
                AgentUpstream.NAME,
                CommandLine.parse(command),
                environment(agent.environment()),
                agent.directory().map(Path::toAbsolutePath).orElse(null),
                agent.maxProcesses(),
                agent.maxSessions(),
                AGENT_STOP_GRACE,
                AGENT_STOP_GRACE,
                Duration.ZERO,
                limits.messageBytes().value(),
                false);
        List<String> resume = agent.resumeArguments().map(CommandLine::parse).orElse(List.of());
        return new AgentUpstream(
            new AgentSettings(
                process, agent.format(), agent.mapping(), resume, agent.maxSessions()),
            stores.log,
            stores.logLevels,
            version);
      } catch (IllegalArgumentException invalid) {
        throw new ConfigurationException("holdfast.agent cannot be used: " + invalid.getMessage());
      }
    }

    private static Map<String, String> environment(Map<String, String> configured) {
      Map<String, String> environment = new HashMap<>();
      configured.forEach((variable, value) ->
          environment.put(variable.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_"), value));
      return environment;
    }

    StdioUpstreamSettings settings(String name, String command, GatewayConfig.Server server) {
      return new StdioUpstreamSettings(
          name,
          CommandLine.parse(command),
          environment(server.environment()),
          server.directory().map(Path::toAbsolutePath).orElse(null),
          server.maxProcesses(),
          Math.ceilDiv(server.maxProcesses() * server.processShare(), 100),
          server.stopGrace(),
          server.firstByteTimeout(),
          server.idleTimeout(),
          limits.messageBytes().value(),
          server.respawn());
    }

    /** Describes the URL without its credentials and its query. */
    private static String withoutSecrets(URI url) {
      return url.getHost() == null
          ? ""
          : " with the url " + url.getScheme() + "://" + url.getHost() + url.getRawPath();
    }
  }
}
