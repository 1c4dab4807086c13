package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AuthConfig;
import dev.holdfast.auth.CodeFlow;
import dev.holdfast.auth.RequiredScopes;
import dev.holdfast.call.Endpoint;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.console.Console;
import dev.holdfast.console.GatewayInfo;
import dev.holdfast.console.Servers;
import dev.holdfast.console.Tries;
import dev.holdfast.console.access.Access;
import dev.holdfast.console.access.OperatorsConfig;
import dev.holdfast.console.access.Right;
import dev.holdfast.console.access.SignIns;
import dev.holdfast.console.fleet.Fleet;
import dev.holdfast.console.fleet.Peers;
import dev.holdfast.console.fleet.ServerFigures;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.relay.Relay;
import dev.holdfast.seal.Seal;
import dev.holdfast.seal.SealStore;
import dev.holdfast.session.SessionStore;
import dev.holdfast.text.Urls;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.wiring.config.GatewayConfig;
import dev.holdfast.wiring.config.OperatorsCheck;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.vertx.http.HttpServer;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.net.URI;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Produces the console. */
final class ConsoleProducer {

  private ConsoleProducer() {}

  @Produces
  @Singleton
  static GatewayInfo info(
      GatewayConfig gateway,
      Optional<RedisConnections> redis,
      ConfiguredUpstreams upstreams,
      MergedEndpoints merged,
      AuthConfig auth,
      AuthProducer issuers,
      Access access,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    return new GatewayInfo(
        version,
        redis.isPresent() ? "Redis" : "memory",
        redis.map(opened -> opened.replica().value()).orElse(""),
        () -> servers(upstreams.servers(), merged.byName().keySet(), gateway),
        auth.publicUrl().map(URI::toString).map(url -> url.replaceAll("/$", "")).orElse(""),
        issuers.keys.areRequired() || issuers.tokens.areAccepted(),
        upstreams.servesDemo() && !access.needsSignIn());
  }

  @Produces
  @Singleton
  static Console console(
      GatewayInfo info,
      HttpServer server,
      SessionStore sessions,
      StreamIndex streams,
      SealStore seals,
      InstantSource clock,
      Relay relay,
      UpstreamMonitor monitor,
      Fleet fleet) {
    Console.Stores stores = new Console.Stores(sessions, streams, new Seal(seals, clock));
    return new Console(info, server::getPort, stores, relay, monitor, fleet);
  }

  @Produces
  @Singleton
  static ServerFigures figures(
      GatewayInfo info, MeterRegistry metrics, UpstreamMonitor monitor, Peers peers) {
    return new ServerFigures(
        metrics,
        monitor,
        peers,
        () -> info.servers().get().stream().map(GatewayInfo.Server::name).toList());
  }

  @Produces
  @Singleton
  static Servers servers(
      GatewayInfo info, Fleet fleet, KnownClients clients, MergedEndpoints merged) {
    return new Servers(
        info,
        fleet,
        clients,
        name ->
            Optional.ofNullable(merged.all().get(name))
                .map(endpoint -> endpoint.survey(Tries.initialize(info.version()))));
  }

  @Produces
  @Singleton
  static Tries tries(
      GatewayInfo info,
      Relay relay,
      EventLog log,
      SealStore seals,
      RequiredScopes scopes,
      InstantSource clock) {
    return new Tries(relay, log, new Seal(seals, clock), scopes, info.version());
  }

  @Produces
  @Singleton
  static Access access(
      GatewayConfig gateway,
      OperatorsConfig operators,
      AuthConfig auth,
      AuthProducer issuers,
      SealStore seals,
      InstantSource clock,
      @ConfigProperty(name = "quarkus.management.host") String host) {
    AccessKeys keys = issuers.keys;
    boolean needsCredentials = keys.areRequired() || issuers.tokens.areAccepted();
    if (gateway.console() == GatewayConfig.Console.OFF) {
      return Access.NONE;
    }
    URI url = operators.consoleUrl().orElse(null);
    if (url == null) {
      return new Access(isLocal(host, needsCredentials), null, null, operators.messages());
    }
    CodeFlow openId =
        operators
            .clientId()
            .map(id ->
                new CodeFlow(
                    issuers.issuer(OperatorsCheck.issuer(operators, auth).orElseThrow()),
                    client(id, url, operators)))
            .orElse(null);
    SignIns signIns = new SignIns(new Seal(seals, clock), keys, openId, operators);
    return new Access(true, url, signIns, operators.messages());
  }

  private static CodeFlow.Client client(String id, URI url, OperatorsConfig operators) {
    return new CodeFlow.Client(
        id,
        operators.clientSecret().orElse(null),
        URI.create(url.toString().replaceAll("/+$", "") + "/console/signed-in"),
        // An issuer may refuse scopes that it does not know.
        operators.claim().isPresent()
            ? "openid"
            : "openid " + Right.scopes(operators.scopePrefix()),
        operators.claim().orElse(null));
  }

  /** Without sign-in, the console would show sessions of all owners to anybody on this machine. */
  static boolean isLocal(String host, boolean needsCredentials) {
    return Urls.isLoopback(host) && !needsCredentials;
  }

  private static List<GatewayInfo.Server> servers(
      Map<String, GatewayConfig.Server> upstreams, Set<String> merged, GatewayConfig gateway) {
    Map<String, String> kinds = new HashMap<>();
    upstreams.forEach((name, server) -> kinds.put(name, ConfiguredUpstreams.kind(server)));
    merged.forEach(name -> kinds.put(name, "merged"));
    gateway.agent().command().ifPresent(_ -> kinds.put(AgentUpstream.NAME, "agents"));
    return kinds.entrySet().stream()
        .map(each ->
            new GatewayInfo.Server(
                each.getKey(), new Endpoint(each.getKey(), false).path(), each.getValue()))
        .sorted(
            Comparator.comparing(
                    (GatewayInfo.Server each) -> !each.name().equals(Endpoint.DEFAULT_UPSTREAM))
                .thenComparing(GatewayInfo.Server::name))
        .toList();
  }
}
