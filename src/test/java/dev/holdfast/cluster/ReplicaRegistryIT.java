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

    assertThat(heartbeatUntilSteady().getLast().lost()).containsExactly(OTHER);
    assertThat(replicas.isSilent(OTHER, false)).isTrue();
  }

  @Test
  void shouldNotFindALivingReplica() {
    heartbeatUntilSteady();
    setLastHeartbeat(OTHER, Duration.ZERO);

    assertThat(replicas.heartbeat(sessions.registrations()).lost()).isEmpty();
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
    assertThat(first.lost()).isEmpty();
  }

  /** Silence proves nothing yet, but leaving does. */
  @Test
  void shouldFindAReplicaThatLeftAtOnce() {
    ReplicaRegistry other = new ReplicaRegistry(client, KEYS, OTHER, TIMING);
    other.heartbeat(0);

    assertThat(other.leave()).isFalse();
    ReplicaRegistry.Heartbeat first = replicas.heartbeat(sessions.registrations());

    assertThat(first.steady()).isFalse();
    assertThat(first.lost()).containsExactly(OTHER);
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
    assertThat(first.lost()).isEmpty();
    assertThat(replicas.heartbeat(sessions.registrations()).lost()).isEmpty();
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
    assertThat(first.lost()).isEmpty();
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
}
