package dev.holdfast.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogKey;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.testing.RedisFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which replicas a heartbeat finds lost, by the clock of Redis. */
class ReplicaRegistryIT {

  private static final RedisKeys KEYS = new RedisKeys("test:");
  private static final HeartbeatTiming TIMING =
      new HeartbeatTiming(Duration.ofMillis(300), Duration.ofMillis(900));
  private static final ReplicaId SELF = new ReplicaId("self");
  private static final ReplicaId OTHER = new ReplicaId("other");

  private final RedisFixture redis = RedisFixture.start();
  private final Vertx vertx = Vertx.vertx();
  private final RedisClient client =
      RedisClientFactory.create(
          vertx,
          () -> new RedisOptions().setConnectionString(redis.url()),
          Duration.ofSeconds(1),
          RedisClient.Listener.NONE);
  private final OwnedSessions sessions = new OwnedSessions(client, KEYS, SELF, Duration.ZERO);
  private final ReplicaRegistry replicas = new ReplicaRegistry(client, KEYS, SELF, TIMING);

  @AfterEach
  void close() {
    client.close();
    redis.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  /** Sets the time of a replica's last heartbeat. */
  private void setLastHeartbeat(ReplicaId replica, Duration ago) {
    String then = Long.toString(System.currentTimeMillis() - ago.toMillis());
    redis.command("ZADD", KEYS.replicas(), then, replica.value());
  }

  /** Sends heartbeats until one is steady; returns all results. */
  private List<ReplicaRegistry.Heartbeat> heartbeatUntilSteady() {
    List<ReplicaRegistry.Heartbeat> results = new ArrayList<>();
    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> {
          results.add(replicas.heartbeat(sessions.registrations()));
          return results.getLast().steady();
        });
    return results;
  }

  @Test
  void shouldFindASilentReplica() {
    setLastHeartbeat(OTHER, TIMING.deadAfter());

    assertThat(heartbeatUntilSteady().getLast().lost()).isTrue();
    assertThat(replicas.nextLost()).contains(OTHER);
    assertThat(replicas.isSilent(OTHER, false)).isTrue();
  }

  /** All survivors notice a loss at the same time, and each would adopt the same sessions. */
  @Test
  void shouldGiveALostReplicaToOneSurvivorAtATime() {
    setLastHeartbeat(OTHER, Duration.ofMinutes(1));
    heartbeatUntilSteady();

    assertThat(replicas.nextLost()).contains(OTHER);
    assertThat(replicas.nextLost()).isEmpty();
    assertThat(replicas.heartbeat(sessions.registrations()).lost()).isFalse();

    assertThat(replicas.isSilent(OTHER, false)).isTrue();
    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> replicas.heartbeat(sessions.registrations()).lost());
    assertThat(replicas.nextLost()).contains(OTHER);
  }

  private static void awaitGap() {
    long begun = System.nanoTime();
    await().until(() -> System.nanoTime() - begun > TIMING.heartbeat().multipliedBy(2).toNanos());
  }

  /** Redis may have been away since the last heartbeat, for all replicas. */
  @Test
  void shouldGetNoSilentReplicaWithoutARecentHeartbeat() {
    setLastHeartbeat(OTHER, Duration.ofMinutes(1));
    heartbeatUntilSteady();
    awaitGap();

    assertThat(replicas.nextLost()).isEmpty();

    redis.command("ZADD", KEYS.replicas(), "0", OTHER.value());
    assertThat(replicas.nextLost()).contains(OTHER);
  }

  /** Redis executes what it got during a freeze before it hears of the other replicas. */
  @Test
  void shouldGetNoSilentReplicaIfRedisWasFrozenMeanwhile() throws Exception {
    try (RedisClient patient =
            RedisClientFactory.create(
                vertx,
                () -> new RedisOptions().setConnectionString(redis.url()),
                Duration.ofMinutes(1),
                RedisClient.Listener.NONE);
        ExecutorService thread = Executors.newSingleThreadExecutor()) {
      ReplicaRegistry asking = new ReplicaRegistry(patient, KEYS, SELF, TIMING);
      await()
          .pollInterval(Duration.ofMillis(100))
          .until(() -> asking.heartbeat(sessions.registrations()).steady());
      setLastHeartbeat(OTHER, Duration.ofMinutes(1));
      redis.freeze();
      Future<Optional<ReplicaId>> lost = thread.submit(asking::nextLost);
      awaitGap();
      redis.thaw();

      assertThat(lost.get()).isEmpty();
    }
  }

  @Test
  void shouldNotFindALivingReplica() {
    heartbeatUntilSteady();
    setLastHeartbeat(OTHER, Duration.ZERO);

    assertThat(replicas.heartbeat(sessions.registrations()).lost()).isFalse();
    assertThat(replicas.isSilent(OTHER, false)).isFalse();
  }

  @Test
  void shouldCountTheReplicasThatAreNotSilent() {
    setLastHeartbeat(OTHER, Duration.ZERO);
    setLastHeartbeat(new ReplicaId("silent"), TIMING.deadAfter().plusSeconds(1));
    redis.command("ZADD", KEYS.replicas(), "0", "left");

    assertThat(replicas.heartbeat(sessions.registrations()).alive()).isEqualTo(2);
  }

  /** A new replica cannot know whether Redis received heartbeats before. */
  @Test
  void shouldFindNobodyAtFirst() {
    setLastHeartbeat(OTHER, Duration.ofMinutes(1));

    ReplicaRegistry.Heartbeat first = replicas.heartbeat(sessions.registrations());

    assertThat(first.steady()).isFalse();
    assertThat(first.lost()).isFalse();
  }

  /** Silence proves nothing yet, but leaving does. */
  @Test
  void shouldFindAReplicaThatLeftAtOnce() {
    ReplicaRegistry other = new ReplicaRegistry(client, KEYS, OTHER, TIMING);
    other.heartbeat(0);

    assertThat(other.leave()).isFalse();
    ReplicaRegistry.Heartbeat first = replicas.heartbeat(sessions.registrations());

    assertThat(first.steady()).isFalse();
    assertThat(first.lost()).isTrue();
    assertThat(replicas.nextLost()).contains(OTHER);
    assertThat(replicas.isSilent(OTHER, false)).isTrue();
  }

  @Test
  void shouldTellOnLeavingWhetherAnotherReplicaIsAlive() {
    replicas.heartbeat(sessions.registrations());
    setLastHeartbeat(OTHER, TIMING.deadAfter().plusSeconds(1));
    assertThat(replicas.leave()).isFalse();

    setLastHeartbeat(OTHER, Duration.ZERO);
    assertThat(replicas.leave()).isTrue();
  }

  /** After a gap in its own heartbeats, missing heartbeats of others prove nothing. */
  @Test
  void shouldWaitForOthersAfterAGapOfItsOwn() {
    heartbeatUntilSteady();
    setLastHeartbeat(SELF, Duration.ofSeconds(10));
    setLastHeartbeat(OTHER, Duration.ofSeconds(10));

    ReplicaRegistry.Heartbeat first = replicas.heartbeat(sessions.registrations());
    setLastHeartbeat(OTHER, Duration.ZERO);

    assertThat(first.steady()).isFalse();
    assertThat(first.lost()).isFalse();
    assertThat(replicas.heartbeat(sessions.registrations()).lost()).isFalse();
  }

  /** A network that was broken delivers it on a connection that has timed out since. */
  @Test
  void shouldNotBeSteadyAfterAGapDespiteALateHeartbeat() {
    heartbeatUntilSteady();
    awaitGap();

    new ReplicaRegistry(client, KEYS, SELF, TIMING).heartbeat(sessions.registrations());

    assertThat(replicas.heartbeat(sessions.registrations()).steady()).isFalse();
  }

  /** Other replicas may own its streams by now. */
  @Test
  void shouldNotBeSteadyAfterOthersForgotIt() {
    heartbeatUntilSteady();

    redis.command("ZREM", KEYS.replicas(), SELF.value());

    assertThat(replicas.heartbeat(sessions.registrations()).steady()).isFalse();
  }

  /** The session registers the replica again, so the next heartbeat finds it in the set. */
  @Test
  void shouldNotBeSteadyAfterASessionRegisteredItAgain() {
    heartbeatUntilSteady();

    redis.command("ZREM", KEYS.replicas(), SELF.value());
    sessions.add(new LogKey("s"));

    assertThat(redis.command("ZCARD", KEYS.replicas())).isEqualTo(":1");
    assertThat(replicas.heartbeat(sessions.registrations()).steady()).isFalse();
  }

  @Test
  void shouldFindNobodyAtFirstDespiteAnEarlierSession() {
    setLastHeartbeat(OTHER, Duration.ofMinutes(1));
    sessions.add(new LogKey("s"));

    ReplicaRegistry.Heartbeat first = replicas.heartbeat(0);

    assertThat(first.steady()).isFalse();
    assertThat(first.lost()).isFalse();
  }

  @Test
  void shouldNotForgetAReplicaThatCameBack() {
    // Of the future, so that it is recent on a slow machine, too.
    setLastHeartbeat(OTHER, Duration.ofMinutes(-1));
    boolean _ = replicas.isSilent(OTHER, true);
    assertThat(redis.command("ZCARD", KEYS.replicas())).isEqualTo(":1");

    setLastHeartbeat(OTHER, Duration.ofSeconds(2));
    boolean _ = replicas.isSilent(OTHER, true);
    assertThat(redis.command("ZCARD", KEYS.replicas())).isEqualTo(":0");
  }

  /** The list for operators has fewer. A reader on a replica beyond it counted as lost. */
  @Test
  void shouldKnowEachReplicaOfALargeFleet() {
    ReplicaList list = new ReplicaList(client, KEYS, TIMING.deadAfter());
    int fleet = 3 * ReplicaList.MOST;
    for (int i = 0; i < fleet; i++) {
      setLastHeartbeat(new ReplicaId("r" + i), Duration.ofMinutes(-1));
    }
    setLastHeartbeat(OTHER, Duration.ofMinutes(1));

    assertThat(list.list()).hasSize(ReplicaList.MOST);
    assertThat(list.alive()).hasSize(fleet).doesNotContain(OTHER.value());
    for (int i = 0; i < fleet; i++) {
      assertThat(list.isAlive("r" + i)).isTrue();
    }
    assertThat(list.isAlive(OTHER.value())).isFalse();
    assertThat(list.isAlive("unknown")).isFalse();
  }
}
