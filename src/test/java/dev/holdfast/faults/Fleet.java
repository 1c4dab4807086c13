package dev.holdfast.faults;

import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Replicas as processes of their own, which share a Redis and a server and can be killed. */
final class Fleet implements AutoCloseable {

  private static final String REDIS = "quarkus.redis.hosts";

  /** None where the settings name another. */
  private final @Nullable RedisFixture redis;

  private final NodeFixture server;
  private final Map<String, String> settings;
  private final List<Integer> ports = new CopyOnWriteArrayList<>();
  private final List<Gateway> replicas = new CopyOnWriteArrayList<>();

  /**
   * Starts everything.
   *
   * @param size how many replicas
   * @param serverArguments what the server behind them gets
   */
  Fleet(int size, String... serverArguments) {
    this(size, Map.of(), serverArguments);
  }

  /**
   * Starts everything.
   *
   * @param settings what the replicas get besides
   */
  Fleet(int size, Map<String, String> settings, String... serverArguments) {
    this.settings = settings;
    this.redis = settings.containsKey(REDIS) ? null : RedisFixture.start();
    server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER, serverArguments);
    for (int i = 0; i < size; i++) {
      ports.add(Ports.free());
    }
    replicas.addAll(Gateway.startAll(IntStream.range(0, size).mapToObj(this::settingsOf).toList()));
  }

  private Map<String, String> settingsOf(int replica) {
    Map<String, String> all = new HashMap<>(settings);
    all.putAll(
        Map.of(
            "holdfast.store",
            "redis",
            "holdfast.stream.retry",
            "100ms",
            "quarkus.http.port",
            Integer.toString(ports.get(replica)),
            "holdfast.upstream.url",
            server.url().toString()));
    if (redis != null) {
      all.put(REDIS, redis.url());
    }
    return all;
  }

  /** What the replicas share. */
  RedisFixture redis() {
    return Objects.requireNonNull(redis, "the fleet has no Redis of its own");
  }

  /** Whether the stream of a call has an owner. */
  boolean isOpen(FollowingClient client, Transcript call) {
    return has(client, "o:" + call.stream());
  }

  /** Whether it is known from where the server can go on with a call, though no event tells. */
  boolean isNoted(FollowingClient client, Transcript call) {
    return has(client, "u:" + call.stream());
  }

  private boolean has(FollowingClient client, String field) {
    return redis().command("HEXISTS", "holdfast:{" + client.session() + "}", field).equals(":1");
  }

  void killRedis() {
    redis().kill();
  }

  Gateway replica(int replica) {
    return replicas.get(replica);
  }

  /** Starts a replica that was killed, where it was before. */
  void restart(int replica) {
    replicas.set(replica, Gateway.start(settingsOf(replica)));
  }

  /** Starts another build where a replica was that has ended. */
  void restart(int replica, Path jar) {
    replicas.set(replica, Gateway.startBuild(jar, settingsOf(replica)));
  }

  /** The same fleet for another test: starts the replicas that have ended, and waits for all. */
  Fleet restored() throws InterruptedException {
    for (int i = 0; i < replicas.size(); i++) {
      if (replicas.get(i).awaitEnd(0)) {
        restart(i);
      }
    }
    await().until(() -> replicas.stream().allMatch(Gateway::isReady));
    return this;
  }

  /** Whether a replica says that it is ready. */
  boolean isReady(int replica) {
    return replicas.get(replica).isReady();
  }

  /** Where a replica is, whether it runs or not. */
  URI url(int replica) {
    return URI.create("http://127.0.0.1:" + ports.get(replica) + "/mcp");
  }

  List<URI> urls() {
    List<URI> urls = new ArrayList<>();
    for (int i = 0; i < ports.size(); i++) {
      urls.add(url(i));
    }
    return urls;
  }

  /** What the replicas have logged, for the messages of failing tests. */
  String output() {
    StringBuilder output = new StringBuilder();
    for (int i = 0; i < replicas.size(); i++) {
      output
          .append("== replica ")
          .append(i)
          .append('\n')
          .append(replicas.get(i).output())
          .append('\n');
    }
    return output.toString();
  }

  @Override
  public void close() {
    replicas.forEach(Gateway::close);
    server.close();
    if (redis != null) {
      redis.close();
    }
  }
}
