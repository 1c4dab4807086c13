package dev.holdfast.faults;

import static org.awaitility.Awaitility.await;

import dev.holdfast.faults.server.CountingServer;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.Host;
import dev.holdfast.testing.MovableClocks;
import dev.holdfast.testing.NetworkNamespaces;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import dev.holdfast.testing.SentinelFixture;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Everything between a client and a server that a fault can hit: the network, a balancer without
 * sticky sessions, three replicas, Redis and the server. Network and balancer run in this process,
 * each of the others in its own. A layout may also put them on hosts, which can be cut off from
 * each other.
 */
final class FaultTestbed {

  /** How many replicas there are. */
  static final int REPLICAS = 3;

  /** Where a server over HTTP+SSE may listen on the host of the server. */
  private static final int SSE_PORT = 8080;

  /** Sentinels and replicas need some seconds, on a slow machine many. */
  private static final Duration TO_RECOVER = Duration.ofMinutes(2);

  private static final Duration PROBE = Duration.ofMillis(100);

  private static @Nullable FaultTestbed shared;

  private final Scenario scenario;
  private final @Nullable NetworkNamespaces hosts;
  private final Map<NetworkHost, Host> places = new EnumMap<>(NetworkHost.class);
  private final @Nullable MovableClocks clocks;
  private final @Nullable SentinelFixture sentinels;
  private final @Nullable RedisFixture redis;
  private final CountingServer server;
  private final Map<String, String> settings;
  private final List<Integer> ports;
  private final List<Gateway> replicas;
  private RoundRobin balancer;
  private FaultProxy network;

  private FaultTestbed(Scenario scenario) {
    this.scenario = scenario;
    settings = new HashMap<>(scenario.settings());
    settings.put("holdfast.store", "redis");
    settings.put("holdfast.stream.retry", "100ms");
    boolean onHosts = scenario.hasHosts();
    clocks = scenario.layout() == Scenario.Layout.CLOCKS ? new MovableClocks() : null;
    hosts = onHosts ? NetworkNamespaces.create(NetworkHost.OTHERS.size()) : null;
    for (int i = 0; i < NetworkHost.OTHERS.size(); i++) {
      Host host = hosts == null ? Host.LOCAL : hosts.host(i);
      NetworkHost name = NetworkHost.OTHERS.get(i);
      boolean isReplica = NetworkHost.REPLICAS.contains(name);
      places.put(name, clocks != null && isReplica ? clocks.on(host) : host);
    }
    places.put(NetworkHost.CLIENTS, hosts == null ? Host.LOCAL : hosts.self());
    sentinels = onHosts ? startSentinels() : null;
    redis =
        switch (scenario.layout()) {
          case ONE_REDIS -> RedisFixture.start();
          case DURABLE_REDIS -> RedisFixture.startDurable();
          case HOSTS, CLOCKS -> null;
        };
    if (redis != null) {
      settings.put("quarkus.redis.hosts", redis.url());
    }
    server = CountingServer.start(host(NetworkHost.SERVER), scenario.ids());
    settings.put("holdfast.upstream.url", server.url().toString());
    ports = IntStream.range(0, REPLICAS).mapToObj(i -> Ports.free()).toList();
    replicas = new CopyOnWriteArrayList<>(startReplicas());
    balancer = balancer(scenario);
    network = FaultProxy.inFrontOf(balancer.url());
  }

  /** As operations.md has it: a primary that is cut off stops taking writes. */
  private SentinelFixture startSentinels() {
    SentinelFixture started =
        SentinelFixture.start(
            NetworkHost.REDIS.stream().map(this::host).toList(),
            "--min-replicas-to-write",
            "1",
            "--min-replicas-max-lag",
            "3");
    settings.put("holdfast.http.allowed-hosts", "*");
    settings.put("quarkus.redis.client-type", "sentinel");
    settings.put("quarkus.redis.master-name", SentinelFixture.NAME);
    settings.put("quarkus.redis.hosts", started.hosts());
    settings.put("holdfast.upstreams.sse.transport", "sse");
    settings.put(
        "holdfast.upstreams.sse.url", host(NetworkHost.SERVER).url(SSE_PORT, "/sse").toString());
    return started;
  }

  private List<Gateway> startReplicas() {
    return Gateway.startTogether(
        IntStream.range(0, REPLICAS).<Supplier<Gateway>>mapToObj(i -> () -> start(i)).toList());
  }

  /**
   * The testbed for a scenario. It is the one of the scenario before, with a network of its own,
   * when that asks for the same Redis, server and replicas: starting them takes as long as a short
   * scenario.
   */
  static FaultTestbed of(Scenario scenario) {
    FaultTestbed last = shared;
    if (last != null && last.scenario.hasSameReplicas(scenario)) {
      last.network.close();
      last.balancer.close();
      last.balancer = last.balancer(scenario);
      last.network = FaultProxy.inFrontOf(last.balancer.url());
      return last;
    }
    closeLast();
    FaultTestbed next = new FaultTestbed(scenario);
    shared = next;
    return next;
  }

  /** Ends all processes of the last scenario. */
  static void closeLast() {
    if (shared != null) {
      shared.close();
      shared = null;
    }
  }

  private RoundRobin balancer(Scenario next) {
    RoundRobin over = RoundRobin.over(replicas.stream().map(Gateway::url).toArray(URI[]::new));
    return next.probed() ? over.probing(i -> replicas.get(i).url("/q/health/ready"), PROBE) : over;
  }

  private Gateway start(int replica) {
    return Gateway.start(host(NetworkHost.REPLICAS.get(replica)), settingsOf(replica));
  }

  private Map<String, String> settingsOf(int replica) {
    Map<String, String> own = new HashMap<>(settings);
    own.put("quarkus.http.port", Integer.toString(ports.get(replica)));
    return own;
  }

  /** Where something runs: this machine, unless the layout has hosts. */
  private Host host(NetworkHost name) {
    return Objects.requireNonNull(places.get(name));
  }

  /** Drops, from now on, each packet from one of these hosts to one of those. */
  void cut(List<NetworkHost> from, List<NetworkHost> to) {
    for (NetworkHost sender : from) {
      to.forEach(receiver -> hosts().cut(host(sender), host(receiver)));
    }
  }

  /** Drops each packet between one of these hosts and one of those. */
  void cutBothWays(List<NetworkHost> these, List<NetworkHost> those) {
    cut(these, those);
    cut(those, these);
  }

  /**
   * Leaves one replica alone with the primary of Redis and the sentinel beside it. All of them keep
   * the server and the clients.
   *
   * @return the primary
   */
  RedisFixture isolatePrimary(int replica) {
    RedisFixture primary = sentinels().primary();
    List<NetworkHost> few =
        List.of(
            NetworkHost.REDIS.get(sentinels().number(primary)), NetworkHost.REPLICAS.get(replica));
    List<NetworkHost> many = new ArrayList<>(NetworkHost.REDIS);
    many.addAll(NetworkHost.REPLICAS);
    many.removeAll(few);
    cutBothWays(few, many);
    return primary;
  }

  /** Sets the clock of a host ahead of the true time, or behind it. */
  void moveClock(NetworkHost host, Duration ahead) {
    Objects.requireNonNull(clocks, "the layout has no clocks").move(host(host), ahead);
  }

  /** Makes the network whole again. */
  void heal() {
    hosts().heal();
  }

  /** Waits until all replicas say that they are ready. */
  void awaitAll() {
    await().atMost(TO_RECOVER).until(() -> replicas.stream().allMatch(Gateway::isReady));
  }

  /** Starts a server over HTTP+SSE, beside the other one. It is the upstream {@code sse}. */
  NodeFixture startSseServer() {
    return NodeFixture.start(
        host(NetworkHost.SERVER), NodeFixture.LEGACY_SERVER, "--port", Integer.toString(SSE_PORT));
  }

  /** How many connections to a port of the host of the server a replica takes for open. */
  int connectionsToServer(int replica, int port) {
    return hosts()
        .connections(host(NetworkHost.REPLICAS.get(replica)), host(NetworkHost.SERVER), port);
  }

  /** How many connections from a replica the server takes for open. */
  int connectionsAtServer(int replica) {
    return hosts()
        .connectionsFrom(
            host(NetworkHost.SERVER),
            server.url().getPort(),
            host(NetworkHost.REPLICAS.get(replica)));
  }

  private NetworkNamespaces hosts() {
    return Objects.requireNonNull(hosts, "the layout has no hosts");
  }

  /** The servers of Redis, on the hosts of {@link NetworkHost#REDIS} in that order. */
  SentinelFixture sentinels() {
    return Objects.requireNonNull(sentinels, "the layout has one Redis");
  }

  /** Where clients go. */
  URI url() {
    return network.url();
  }

  FaultProxy network() {
    return network;
  }

  RedisFixture redis() {
    return Objects.requireNonNull(redis, "the layout has several Redis servers");
  }

  CountingServer server() {
    return server;
  }

  Gateway replica(int replica) {
    return replicas.get(replica);
  }

  /** Starts a replica that has ended, where it was before; returns when it listens. */
  void restart(int replica) {
    replicas.set(replica, start(replica));
  }

  /** Starts another build where a replica was that has ended; returns when it listens. */
  void restart(int replica, Path jar) {
    replicas.set(replica, Gateway.startBuild(jar, settingsOf(replica)));
  }

  /** Waits until one says that it is ready. */
  void awaitReady(int replica) {
    await().until(() -> replica(replica).isReady());
  }

  /** What the replicas have logged, for the messages of failing tests. */
  String output() {
    return IntStream.range(0, REPLICAS)
        .mapToObj(i -> "== replica " + i + "\n" + replicas.get(i).output())
        .collect(Collectors.joining("\n"));
  }

  private void close() {
    network.close();
    balancer.close();
    replicas.forEach(Gateway::close);
    server.close();
    if (redis != null) {
      redis.close();
    }
    if (sentinels != null) {
      sentinels.close();
    }
    if (hosts != null) {
      hosts.close();
    }
    if (clocks != null) {
      clocks.close();
    }
  }
}
