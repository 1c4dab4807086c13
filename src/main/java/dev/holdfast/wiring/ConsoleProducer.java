package dev.holdfast.wiring;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AccessTokens;
import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.cluster.HeartbeatTiming;
import dev.holdfast.cluster.ReplicaList;
import dev.holdfast.console.Console;
import dev.holdfast.console.GatewayInfo;
import dev.holdfast.relay.Relay;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.UpstreamMonitor;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.vertx.http.HttpServer;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.Nullable;

/** Produces the console. */
final class ConsoleProducer {

  private ConsoleProducer() {}

  @Produces
  @Singleton
  static Console console(
      GatewayConfig gateway,
      ClusterConfig cluster,
      StoreProducer stores,
      ConfiguredUpstreams upstreams,
      Relay relay,
      UpstreamMonitor monitor,
      AccessKeys keys,
      AccessTokens tokens,
      HttpServer server,
      MeterRegistry metrics,
      @ConfigProperty(name = "quarkus.management.host") String host,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    @Nullable RedisConnections redis = stores.redis;
    Supplier<List<ReplicaList.Replica>> replicas =
        redis == null
            ? List::of
            : new ReplicaList(redis.client(), redis.keys(), HeartbeatTiming.of(cluster).deadAfter())
                ::list;
    GatewayInfo info =
        new GatewayInfo(
            isServed(gateway.console(), host, keys.areRequired() || tokens.areAccepted()),
            version,
            redis == null ? "memory" : "Redis",
            redis == null ? "" : redis.replica().value(),
            () -> servers(upstreams.servers(), gateway),
            upstreams.servesDemo());
    return new Console(
        info, server::getPort, stores.sessions, stores.streams, relay, monitor, replicas, metrics);
  }

  /**
   * With authentication, the console would show sessions of all owners to anybody on this machine.
   */
  static boolean isServed(GatewayConfig.Console when, String host, boolean needsCredentials) {
    return when == GatewayConfig.Console.LOCAL
        && CheckedConfig.isLoopback(host)
        && !needsCredentials;
  }

  private static List<GatewayInfo.Server> servers(
      Map<String, GatewayConfig.Server> upstreams, GatewayConfig gateway) {
    List<GatewayInfo.Server> servers = new ArrayList<>();
    new TreeMap<>(upstreams)
        .forEach((name, server) ->
            servers.add(
                new GatewayInfo.Server(
                    name, ConfiguredUpstreams.path(name), ConfiguredUpstreams.kind(server))));
    if (gateway.agent().command().isPresent()) {
      String name = AgentUpstream.NAME;
      servers.add(new GatewayInfo.Server(name, ConfiguredUpstreams.path(name), "agents"));
    }
    servers.sort((a, b) ->
        Boolean.compare(
            b.name().equals(Session.DEFAULT_UPSTREAM), a.name().equals(Session.DEFAULT_UPSTREAM)));
    return servers;
  }
}
