package dev.holdfast.faults;

import static org.awaitility.Awaitility.await;

import dev.holdfast.faults.server.CountingServer;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * All that a fault can hit, from the client's side on: the network, a balancer without sticky
 * sessions, three replicas, and behind them a server and a Redis. Each but the first two is a
 * process of its own.
 */
final class FaultTestbed implements AutoCloseable {

  /** How many replicas there are. */
  static final int REPLICAS = 3;

  private static final Duration PROBE = Duration.ofMillis(100);

  private final RedisFixture redis;
  private final CountingServer server;
  private final Map<String, String> settings;
  private final List<Integer> ports;
  private final List<Gateway> replicas;
  private final RoundRobin balancer;
  private final FaultProxy network;

  FaultTestbed(Scenario scenario) {
    redis = scenario.durable() ? RedisFixture.startDurable() : RedisFixture.start();
    server = CountingServer.start(scenario.ids());
    settings = new HashMap<>(scenario.settings());
    settings.put("holdfast.store", "redis");
    settings.put("holdfast.stream.retry", "100ms");
    settings.put("quarkus.redis.hosts", redis.url());
    settings.put("holdfast.upstream.url", server.url().toString());
    ports = IntStream.range(0, REPLICAS).mapToObj(i -> Ports.free()).toList();
    List<CompletableFuture<Gateway>> starting =
        ports.stream().map(port -> CompletableFuture.supplyAsync(() -> start(port))).toList();
    replicas =
        starting.stream()
            .map(CompletableFuture::join)
            .collect(Collectors.toCollection(CopyOnWriteArrayList::new));
    balancer = RoundRobin.over(replicas.stream().map(Gateway::url).toArray(URI[]::new));
    if (scenario.probed()) {
      balancer.probing("/q/health/ready", PROBE);
    }
    network = FaultProxy.inFrontOf(balancer.url());
  }

  private Gateway start(int port) {
    Map<String, String> own = new HashMap<>(settings);
    own.put("quarkus.http.port", Integer.toString(port));
    return Gateway.start(own);
  }

  /** Where clients go. */
  URI url() {
    return network.url();
  }

  FaultProxy network() {
    return network;
  }

  RedisFixture redis() {
    return redis;
  }

  CountingServer server() {
    return server;
  }

  Gateway replica(int replica) {
    return replicas.get(replica);
  }

  /** Starts a replica that has ended, where it was before; returns when it listens. */
  void restart(int replica) {
    replicas.set(replica, start(ports.get(replica)));
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

  @Override
  public void close() {
    network.close();
    balancer.close();
    replicas.forEach(Gateway::close);
    server.close();
    redis.close();
  }
}
