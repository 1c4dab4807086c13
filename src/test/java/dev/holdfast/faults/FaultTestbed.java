package dev.holdfast.faults;

import static org.awaitility.Awaitility.await;

import dev.holdfast.faults.server.CountingServer;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Everything between a client and a server that a fault can hit: the network, a balancer without
 * sticky sessions, three replicas, Redis and the server. Network and balancer run in this process,
 * each of the others in its own.
 */
final class FaultTestbed {

  /** How many replicas there are. */
  static final int REPLICAS = 3;

  private static final Duration PROBE = Duration.ofMillis(100);

  private static @Nullable FaultTestbed shared;

  private final Scenario scenario;
  private final RedisFixture redis;
  private final CountingServer server;
  private final Map<String, String> settings;
  private final List<Integer> ports;
  private final List<Gateway> replicas;
  private RoundRobin balancer;
  private FaultProxy network;

  private FaultTestbed(Scenario scenario) {
    this.scenario = scenario;
    redis = scenario.durable() ? RedisFixture.startDurable() : RedisFixture.start();
    server = CountingServer.start(scenario.ids());
    settings = new HashMap<>(scenario.settings());
    settings.put("holdfast.store", "redis");
    settings.put("holdfast.stream.retry", "100ms");
    settings.put("quarkus.redis.hosts", redis.url());
    settings.put("holdfast.upstream.url", server.url().toString());
    ports = IntStream.range(0, REPLICAS).mapToObj(i -> Ports.free()).toList();
    replicas =
        new CopyOnWriteArrayList<>(Gateway.startAll(ports.stream().map(this::settingsAt).toList()));
    balancer = balancer(scenario);
    network = FaultProxy.inFrontOf(balancer.url());
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

  private Map<String, String> settingsAt(int port) {
    Map<String, String> own = new HashMap<>(settings);
    own.put("quarkus.http.port", Integer.toString(port));
    return own;
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
    replicas.set(replica, Gateway.start(settingsAt(ports.get(replica))));
  }

  /** Starts another build where a replica was that has ended; returns when it listens. */
  void restart(int replica, Path jar) {
    replicas.set(replica, Gateway.startBuild(jar, settingsAt(ports.get(replica))));
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
    redis.close();
  }
}
