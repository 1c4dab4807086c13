package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AccessTokens;
import dev.holdfast.call.Endpoint;
import dev.holdfast.cluster.ReplicaList;
import dev.holdfast.console.Console;
import dev.holdfast.console.GatewayInfo;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.relay.Relay;
import dev.holdfast.session.SessionStore;
import dev.holdfast.text.Urls;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.wiring.config.GatewayConfig;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.vertx.http.HttpServer;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
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
      AccessKeys keys,
      AccessTokens tokens,
      @ConfigProperty(name = "quarkus.management.host") String host,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    return new GatewayInfo(
        isServed(gateway.console(), host, keys.areRequired() || tokens.areAccepted()),
        version,
        redis.isPresent() ? "Redis" : "memory",
        redis.map(opened -> opened.replica().value()).orElse(""),
        () -> servers(upstreams.servers(), merged.byName().keySet(), gateway),
        upstreams.servesDemo());
  }

  @Produces
  @Singleton
  static Console console(
      GatewayInfo info,
      HttpServer server,
      SessionStore sessions,
      StreamIndex streams,
      Relay relay,
      UpstreamMonitor monitor,
      Optional<RedisConnections> redis,
      MeterRegistry metrics) {
    Supplier<List<ReplicaList.Replica>> replicas =
        () -> redis.map(opened -> opened.replicas().list()).orElse(List.of());
    return new Console(info, server::getPort, sessions, streams, relay, monitor, replicas, metrics);
  }

  /**
   * With authentication, the console would show sessions of all owners to anybody on this machine.
   */
  static boolean isServed(GatewayConfig.Console when, String host, boolean needsCredentials) {
    return when == GatewayConfig.Console.LOCAL && Urls.isLoopback(host) && !needsCredentials;
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
