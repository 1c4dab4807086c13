package dev.holdfast.simulation;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.log.StreamRef;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.wiring.FleetReplica;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/** Many replicas at one Redis, in this process. For one thread. */
final class Fleet implements AutoCloseable {

  /** Calls that are opened at the same time. */
  private static final int OPENERS = 8;

  private static final Duration POLL = Duration.ofMillis(10);

  /** The server that all replicas share. */
  final RedisFixture redis = RedisFixture.start();

  /** The replicas that have not vanished. */
  final List<FleetReplica> living = new ArrayList<>();

  private final Vertx vertx = Vertx.vertx();
  private final ClusterConfig timing;
  private final Duration redisTimeout;
  private final Set<StreamRef> opened = new HashSet<>();

  /** Times after which a replica counts as lost. */
  record Timing(Duration heartbeat, Duration deadAfter) implements ClusterConfig {}

  /** A fleet without replicas. */
  Fleet(ClusterConfig timing, Duration redisTimeout) {
    this.timing = timing;
    this.redisTimeout = redisTimeout;
  }

  /** Starts replicas, which find Redis at an address that may change. */
  void start(int replicas, Supplier<String> url) {
    for (int i = 0; i < replicas; i++) {
      living.add(new FleetReplica(vertx, url, timing, redisTimeout));
      // Replicas of a real fleet do not send their heartbeats at the same time.
      LockSupport.parkNanos(timing.heartbeat().dividedBy(replicas).toNanos());
    }
    await(() -> living.stream().allMatch(Fleet::isReady));
  }

  private static boolean isReady(FleetReplica replica) {
    try {
      replica.log().check();
      return true;
    } catch (RuntimeException notYet) {
      return false;
    }
  }

  /** Opens calls that run on, the same number on each replica. */
  void openCalls(int perReplica) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(OPENERS)) {
      List<Future<?>> opening = new ArrayList<>();
      for (FleetReplica replica : living) {
        opening.add(
            threads.submit(() -> {
              for (int i = 0; i < perReplica; i++) {
                replica.openCall();
              }
            }));
      }
      for (Future<?> each : opening) {
        each.get();
      }
    }
    await(() -> writers().size() == living.size() * perReplica);
    opened.addAll(writers().keySet());
  }

  /** Kills replicas in one instant. */
  List<FleetReplica> vanish(int replicas) {
    List<FleetReplica> lost = new ArrayList<>(living.subList(0, replicas));
    living.subList(0, replicas).clear();
    lost.forEach(FleetReplica::kill);
    return lost;
  }

  /** Number of writers of each stream that has some, among the living replicas. */
  Map<StreamRef, Long> writers() {
    return living.stream()
        .flatMap(replica -> replica.written().stream())
        .collect(groupingBy(Function.identity(), counting()));
  }

  /** Whether each stream has exactly one writer. */
  boolean isWhole() {
    Map<StreamRef, Long> writers = writers();
    return writers.keySet().equals(opened) && writers.values().stream().allMatch(n -> n == 1);
  }

  /** The streams that a replica writes although Redis names another owner. */
  List<StreamRef> fenced() {
    return living.stream()
        .flatMap(each -> each.log().shared().findTakenOver(each.written()).stream())
        .toList();
  }

  /** Streams that living replicas have adopted so far. */
  long adopted() {
    return living.stream().mapToLong(FleetReplica::adopted).sum();
  }

  /** Sessions of which living replicas have opened or tried to adopt streams so far. */
  long recorded() {
    return living.stream().mapToLong(each -> each.recorded.get()).sum();
  }

  /** Waits without a limit: the caller has one. */
  static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(POLL.toNanos());
    }
  }

  @Override
  public void close() {
    living.forEach(FleetReplica::kill); // Those that leave in order would adopt from each other.
    vertx.close().toCompletionStage().toCompletableFuture().join();
    redis.close();
  }
}
