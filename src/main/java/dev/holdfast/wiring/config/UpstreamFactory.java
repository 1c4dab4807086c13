package dev.holdfast.wiring.config;

import dev.holdfast.agent.AgentSettings;
import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.call.Endpoint;
import dev.holdfast.config.ConfigOrigin;
import dev.holdfast.era.south.Era;
import dev.holdfast.era.south.EraUpstream;
import dev.holdfast.era.south.ResultCache;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.intercept.AmbiguousNames;
import dev.holdfast.intercept.CallLimit;
import dev.holdfast.intercept.InterceptedMessage;
import dev.holdfast.intercept.Interceptor;
import dev.holdfast.intercept.Redaction;
import dev.holdfast.intercept.ResultLimit;
import dev.holdfast.intercept.ToolRules;
import dev.holdfast.log.EventLog;
import dev.holdfast.oauth.SignInSettings;
import dev.holdfast.oauth.TokenEndpoint;
import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.http.ClientTls;
import dev.holdfast.upstream.http.Credentials;
import dev.holdfast.upstream.http.DetectingUpstream;
import dev.holdfast.upstream.http.HttpClients;
import dev.holdfast.upstream.http.HttpUpstream;
import dev.holdfast.upstream.http.HttpUpstreamSettings;
import dev.holdfast.upstream.http.LegacyUpstream;
import dev.holdfast.upstream.http.RequestHeaders;
import dev.holdfast.upstream.local.server.LogLevelStore;
import dev.holdfast.upstream.renewal.PingingUpstream;
import dev.holdfast.upstream.renewal.RenewingUpstream;
import dev.holdfast.upstream.stdio.CommandLine;
import dev.holdfast.upstream.stdio.StdioUpstream;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import dev.holdfast.upstream.token.PassedTokens;
import dev.holdfast.upstream.token.PersonalCredentials;
import dev.holdfast.upstream.token.UpstreamTokens;
import io.vertx.core.Vertx;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Creates upstreams that have a server.
 *
 * @param person the person before this process. For one, upstreams retry for as long as it takes,
 *     see {@link HttpUpstreamSettings.Reconnection#PATIENT}, and the default one can ask to sign in
 * @param traceHeaders as in {@link RequestHeaders}
 * @param clientTokens the tokens of clients, for servers that get them
 * @param held budget of messages from all servers, and of requests that are sent again
 * @param sessions keeps the state of sessions for servers without sessions; null for checks
 * @param results results of these servers for clients without sessions
 */
public record UpstreamFactory(
    LimitsConfig limits,
    Person person,
    @Nullable Supplier<Map<String, String>> traceHeaders,
    Function<String, ClientTls> tls,
    ClientTokens clientTokens,
    ByteBudget held,
    @Nullable SessionStore sessions,
    ResultCache results) {

  /** A person who waits for this process, as for the bridge over stdio. */
  public enum Person {
    NONE,
    WITHOUT_BROWSER,
    WITH_BROWSER
  }

  /** Time for an agent to end after SIGTERM. */
  private static final Duration AGENT_STOP_GRACE = Duration.ofSeconds(2);

  /** Time for a person to sign in. */
  private static final Duration SIGN_IN_TIMEOUT = Duration.ofMinutes(5);

  /** Returns a factory that only checks configurations. */
  static UpstreamFactory ofChecks(LimitsConfig limits) {
    ClientTokens noTokens = new ClientTokens(0, InstantSource.system());
    return new UpstreamFactory(
        limits,
        Person.NONE,
        null,
        _ -> TlsConfigurations.NONE,
        noTokens,
        new ByteBudget(0),
        null,
        ResultCache.NONE);
  }

  /**
   * Returns what is wrong with the configuration of an upstream, beginning with the end of a key:
   * {@code url must be …}. Connects to nothing.
   */
  Stream<String> problems(String name, GatewayConfig.Server server) {
    return Stream.<Runnable>of(
            () -> checkToken(server),
            () -> checkEra(server),
            () -> server.url().ifPresent(url -> settings(name, url, server, checked(server))),
            () -> server.command().ifPresent(command -> settings(name, command, server)),
            () -> interceptors(server, List.of(), (_, _) -> {}))
        .flatMap(UpstreamFactory::problem);
  }

  private static Stream<String> problem(Runnable check) {
    try {
      check.run();
      return Stream.empty();
    } catch (IllegalArgumentException invalid) {
      return Stream.of(String.valueOf(invalid.getMessage()));
    }
  }

  /**
   * Creates an upstream.
   *
   * @param name its name in log messages
   * @return empty if neither a URL nor a command is configured
   * @throws IllegalArgumentException if the configuration has {@link #problems}
   */
  public Optional<Upstream> create(Vertx vertx, String name, GatewayConfig.Server server) {
    Optional<HttpUpstreamSettings> http =
        server.url().map(url -> settings(name, url, server, credentials(vertx, name, server)));
    Optional<StdioUpstreamSettings> stdio =
        server.command().map(command -> settings(name, command, server));
    Optional<Upstream> upstream =
        switch (server.transport()) {
          case AUTO ->
              http.map(found -> new DetectingUpstream(clients(vertx, found), found))
                  .map(found -> renewing(found, name, server))
                  .or(() -> stdio.map(found -> new StdioUpstream(found, held)));
          case STREAMABLE_HTTP ->
              http.map(found -> new HttpUpstream(clients(vertx, found), found))
                  .map(found -> renewing(found, name, server));
          case SSE -> http.map(found -> new LegacyUpstream(clients(vertx, found), found));
          case STDIO -> stdio.map(found -> new StdioUpstream(found, held));
        };
    boolean isOldByDefault = http.isEmpty() || server.transport() == GatewayConfig.Transport.SSE;
    return upstream.map(found ->
        new EraUpstream(
            found,
            server.era().orElse(isOldByDefault ? Era.OLD : Era.AUTO),
            Objects.requireNonNull(sessions),
            server.idleTimeout(),
            held,
            results));
  }

  private Upstream renewing(Upstream upstream, String name, GatewayConfig.Server server) {
    Upstream renewing =
        new RenewingUpstream(upstream, name, Objects.requireNonNull(sessions), server.respawn());
    return server
        .pingInterval()
        .<Upstream>map(interval -> new PingingUpstream(renewing, interval))
        .orElse(renewing);
  }

  /**
   * Returns the interceptors of an upstream: the program's own, and then the rules of the
   * configuration, which see what is delivered.
   *
   * @param rules the configuration of the upstream; null for agents, which have no rules
   * @param onDenial gets calls that the rules refuse, with the reason
   * @throws IllegalArgumentException if a pointer is invalid
   */
  public static List<Interceptor> interceptors(
      GatewayConfig.@Nullable Server rules,
      List<Interceptor> own,
      BiConsumer<InterceptedMessage, String> onDenial) {
    List<Interceptor> all = new ArrayList<>(own);
    if (rules != null) {
      List<String> allow = rules.allowTools().orElse(List.of());
      List<String> deny = rules.denyTools().orElse(List.of());
      if (!allow.isEmpty() || !deny.isEmpty() || !rules.toolScopes().isEmpty()) {
        all.add(new ToolRules(allow, deny, rules.toolScopes(), onDenial));
      }
      rules.callsPerMinute().ifPresent(limit -> all.add(new CallLimit(limit)));
      rules.redact().ifPresent(pointers -> all.add(new Redaction(pointers)));
      rules.resultBytes().ifPresent(limit -> all.add(new ResultLimit(limit.asLongValue())));
    }
    if (!all.isEmpty()) {
      // The others judge only messages that every server reads as they do.
      all.addFirst(new AmbiguousNames());
    }
    return all;
  }

  private HttpClients clients(Vertx vertx, HttpUpstreamSettings settings) {
    return new HttpClients(vertx, settings, held);
  }

  private Credentials credentials(Vertx vertx, String name, GatewayConfig.Server server) {
    return switch (server.authorization()) {
      case NONE ->
          person != Person.NONE
                  && name.equals(Endpoint.DEFAULT_UPSTREAM)
                  && !hasAuthorization(server)
              ? new PersonalCredentials(vertx, signIn(server))
              : Credentials.NONE;
      case CLIENT_CREDENTIALS -> tokens(vertx, name, server, null);
      case PASS -> new PassedTokens(clientTokens);
      case EXCHANGE -> tokens(vertx, name, server, clientTokens);
    };
  }

  private UpstreamTokens tokens(
      Vertx vertx, String name, GatewayConfig.Server server, @Nullable ClientTokens exchanged) {
    GatewayConfig.Token token = server.token();
    ClientTls certificates = token.tls().map(tls).orElse(null);
    TokenEndpoint endpoint =
        new TokenEndpoint(
            vertx,
            token.endpoint().orElseThrow(),
            token.clientId().orElseThrow(),
            token.clientSecret().orElseThrow(),
            server.connectTimeout(),
            options -> {
              if (certificates != null) {
                certificates.configure(options);
              }
            });
    Map<String, String> parameters = new HashMap<>();
    token.scope().ifPresent(scope -> parameters.put("scope", scope));
    token.resource().ifPresent(resource -> parameters.put("resource", resource));
    token.audience().ifPresent(audience -> parameters.put("audience", audience));
    return new UpstreamTokens(name, endpoint, certificates, parameters, exchanged);
  }

  private static boolean hasAuthorization(GatewayConfig.Server server) {
    return server.headers().keySet().stream().anyMatch("authorization"::equalsIgnoreCase);
  }

  private SignInSettings signIn(GatewayConfig.Server server) {
    GatewayConfig.Token token = server.token();
    return new SignInSettings(
        server.url().orElseThrow(),
        token.clientId().orElse(null),
        token.clientSecret().orElse(null),
        token.scope().orElse(null),
        PersonalCredentials.directory(),
        person == Person.WITH_BROWSER,
        SIGN_IN_TIMEOUT);
  }

  /** Stands for the credentials while a configuration is checked. */
  private static Credentials checked(GatewayConfig.Server server) {
    return server.authorization() == GatewayConfig.Authorization.NONE
        ? Credentials.NONE
        : (_, _) -> null;
  }

  private static void checkEra(GatewayConfig.Server server) {
    boolean isNew = server.era().filter(era -> era != Era.OLD).isPresent();
    if (isNew && server.transport() == GatewayConfig.Transport.SSE) {
      throw new IllegalArgumentException("era must be old: HTTP+SSE always has sessions");
    }
  }

  private static void checkToken(GatewayConfig.Server server) {
    if (server.authorization() == GatewayConfig.Authorization.NONE) {
      return;
    }
    if (server.authorization() == GatewayConfig.Authorization.PASS) {
      if (server.url().isEmpty()) {
        throw new IllegalArgumentException(
            "authorization is for servers over HTTP: set url, or remove it");
      }
      return;
    }
    GatewayConfig.Token token = server.token();
    if (server.url().isEmpty()
        || token.endpoint().isEmpty()
        || token.clientId().isEmpty()
        || token.clientSecret().isEmpty()) {
      throw new IllegalArgumentException(
          "authorization has no use without url, token.endpoint, token.client-id and"
              + " token.client-secret: set them");
    }
    URI endpoint = token.endpoint().get();
    if (endpoint.getHost() == null || !String.valueOf(endpoint.getScheme()).matches("https?")) {
      throw new IllegalArgumentException(
          "token.endpoint must begin with http:// or https://, such as https://login.example.com/token");
    }
    if (token.tls().isPresent() && !"https".equalsIgnoreCase(endpoint.getScheme())) {
      throw new IllegalArgumentException(
          "token.tls has no use unless token.endpoint begins with https://: remove it, or change the"
              + " endpoint");
    }
  }

  private HttpUpstreamSettings settings(
      String upstream, URI url, GatewayConfig.Server server, Credentials credentials) {
    Map<String, String> headers = new HashMap<>();
    server.headers().forEach((name, value) -> headers.put(name.replace('.', '-'), value));
    Set<String> forwarded =
        server.forwardHeaders().stream()
            .flatMap(List::stream)
            .map(String::strip)
            .collect(Collectors.toUnmodifiableSet());
    return new HttpUpstreamSettings(
        url,
        new RequestHeaders(headers, forwarded, traceHeaders),
        server.connectTimeout(),
        person != Person.NONE
            ? HttpUpstreamSettings.Reconnection.PATIENT
            : HttpUpstreamSettings.Reconnection.DEFAULT,
        server.maxConnections(),
        server.tls().map(tls).orElse(null),
        credentials,
        new Channel.Settings(
            upstream,
            server.maxConnections(),
            server.maxConnections(),
            server.firstByteTimeout(),
            person != Person.NONE ? Duration.ZERO : server.idleTimeout(),
            limits.serverMessageBytes().value(),
            server.respawn()));
  }

  /** Returns what is wrong with the configuration of agents, as {@link #problems} does. */
  Stream<String> agentProblems(GatewayConfig.Agent agent) {
    return problem(() -> agent.command().ifPresent(command -> agentSettings(command, agent)));
  }

  /** Creates the upstream of agents. Throws as {@link #create} does. */
  public AgentUpstream createAgents(
      String command,
      GatewayConfig.Agent agent,
      EventLog log,
      LogLevelStore logLevels,
      String version) {
    return new AgentUpstream(agentSettings(command, agent), log, logLevels, version);
  }

  private AgentSettings agentSettings(String command, GatewayConfig.Agent agent) {
    StdioUpstreamSettings process =
        new StdioUpstreamSettings(
            CommandLine.parse(command),
            environment(agent.environment()),
            agent.directory().map(Path::toAbsolutePath).orElse(null),
            AGENT_STOP_GRACE,
            new Channel.Settings(
                AgentUpstream.NAME,
                agent.maxProcesses(),
                Math.ceilDiv(agent.maxProcesses(), 2),
                AGENT_STOP_GRACE,
                Duration.ZERO,
                limits.serverMessageBytes().value(),
                false));
    List<String> resume = agent.resumeArguments().map(CommandLine::parse).orElse(List.of());
    return new AgentSettings(process, agent.format(), agent.mapping(), resume, agent.maxSessions());
  }

  private static Map<String, String> environment(Map<String, String> configured) {
    Map<String, String> environment = new HashMap<>();
    configured.forEach((variable, value) ->
        environment.put(
            variable.contains("_") ? variable : ConfigOrigin.variable(variable), value));
    return environment;
  }

  StdioUpstreamSettings settings(String name, String command, GatewayConfig.Server server) {
    return new StdioUpstreamSettings(
        CommandLine.parse(command),
        environment(server.environment()),
        server.directory().map(Path::toAbsolutePath).orElse(null),
        server.stopGrace(),
        new Channel.Settings(
            name,
            server.maxProcesses(),
            Math.ceilDiv(server.maxProcesses() * server.processShare(), 100),
            server.firstByteTimeout(),
            server.idleTimeout(),
            limits.serverMessageBytes().value(),
            server.respawn()));
  }
}
