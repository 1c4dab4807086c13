package dev.holdfast.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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

/** Whom a beat names, by the clock of Redis. */
class ReplicaRegistryIT {

  private static final RedisKeys KEYS = new RedisKeys("test:");
  private static final HeartbeatTiming PULSE =
      new HeartbeatTiming(Duration.ofMillis(300), Duration.ofMillis(900));
  private static final ReplicaId SELF = new ReplicaId("self");
  private static final ReplicaId OTHER = new ReplicaId("other");

  private final RedisFixture redis = RedisFixture.start();
  private final Vertx vertx = Vertx.vertx();
  private final RedisClient link =
      RedisClientFactory.create(
          vertx, new RedisOptions().setConnectionString(redis.url()), Duration.ofSeconds(1));
  private final OwnedSessions sessions = new OwnedSessions(link, KEYS, SELF, Duration.ZERO);
  private final ReplicaRegistry replicas = new ReplicaRegistry(link, KEYS, SELF, PULSE);

  @AfterEach
  void close() {
    link.close();
    redis.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  /** Lets a replica have beaten last so long ago. */
  private void lastBeat(ReplicaId replica, Duration ago) {
    String then = Long.toString(System.currentTimeMillis() - ago.toMillis());
    redis.command("ZADD", KEYS.replicas(), then, replica.value());
  }

  /** Beats until it may judge others, and returns all that it has found until then. */
  private List<ReplicaRegistry.Beat> beatUntilSteady() {
    List<ReplicaRegistry.Beat> beats = new ArrayList<>();
    await()
        .pollInterval(Duration.ofMillis(100))
        .until(() -> {
          beats.add(replicas.beat(sessions.enlistments()));
          return beats.getLast().steady();
        });
    return beats;
  }

  @Test
  void shouldNameOneThatIsSilentForTooLong() {
    lastBeat(OTHER, PULSE.deadAfter());

    assertThat(beatUntilSteady().getLast().lost()).containsExactly(OTHER);
    assertThat(replicas.isStillSilent(OTHER)).isTrue();
  }

  @Test
  void shouldNotNameOneThatBeats() {
    beatUntilSteady();
    lastBeat(OTHER, Duration.ZERO);

    assertThat(replicas.beat(sessions.enlistments()).lost()).isEmpty();
    assertThat(replicas.isStillSilent(OTHER)).isFalse();
  }

  /** It has just come, so it cannot know whether anybody could be heard before. */
  @Test
  void shouldNameNobodyAtFirst() {
    lastBeat(OTHER, Duration.ofMinutes(1));

    ReplicaRegistry.Beat first = replicas.beat(sessions.enlistments());

    assertThat(first.steady()).isFalse();
    assertThat(first.lost()).isEmpty();
  }

  /** That one is silent proves nothing yet; that it said so itself does. */
  @Test
  void shouldNameAtOnceOneThatSaysThatItStops() {
    ReplicaRegistry other = new ReplicaRegistry(link, KEYS, OTHER, PULSE);
    other.beat(0);

    assertThat(other.leave()).isFalse();
    ReplicaRegistry.Beat first = replicas.beat(sessions.enlistments());

    assertThat(first.steady()).isFalse();
    assertThat(first.lost()).containsExactly(OTHER);
    assertThat(replicas.isStillSilent(OTHER)).isTrue();
  }

  @Test
  void shouldFindWhenItLeavesWhetherAnotherIsAlive() {
    replicas.beat(sessions.enlistments());
    lastBeat(OTHER, PULSE.deadAfter().plusSeconds(1));
    assertThat(replicas.leave()).isFalse();

    lastBeat(OTHER, Duration.ZERO);
    assertThat(replicas.leave()).isTrue();
  }

  /** When its own beats did not arrive either, those of others prove nothing. */
  @Test
  void shouldGiveEverybodyTimeAfterAGapOfItsOwn() {
    beatUntilSteady();
    lastBeat(SELF, Duration.ofSeconds(10));
    lastBeat(OTHER, Duration.ofSeconds(10));

    ReplicaRegistry.Beat first = replicas.beat(sessions.enlistments());
    lastBeat(OTHER, Duration.ZERO);

    assertThat(first.steady()).isFalse();
    assertThat(first.lost()).isEmpty();
    assertThat(replicas.beat(sessions.enlistments()).lost()).isEmpty();
  }

  /** Once more after it was buried: others may own its streams by now. */
  @Test
  void shouldDoubtItselfWhenOthersHaveForgottenIt() {
    beatUntilSteady();

    redis.command("ZREM", KEYS.replicas(), SELF.value());

    assertThat(replicas.beat(sessions.enlistments()).steady()).isFalse();
  }

  /** A session that it opens in between puts it on the list again. */
  @Test
  void shouldDoubtItselfWhenASessionFoundItForgotten() {
    beatUntilSteady();

    redis.command("ZREM", KEYS.replicas(), SELF.value());
    sessions.add("s");

    assertThat(redis.command("ZCARD", KEYS.replicas())).isEqualTo(":1");
    assertThat(replicas.beat(sessions.enlistments()).steady()).isFalse();
  }

  @Test
  void shouldNameNobodyAtFirstThoughASessionCameBefore() {
    lastBeat(OTHER, Duration.ofMinutes(1));
    sessions.add("s");

    ReplicaRegistry.Beat first = replicas.beat(0);

    assertThat(first.steady()).isFalse();
    assertThat(first.lost()).isEmpty();
  }

  @Test
  void shouldBuryNobodyWhoHasComeBack() {
    lastBeat(OTHER, Duration.ZERO);
    replicas.bury(OTHER);
    assertThat(redis.command("ZCARD", KEYS.replicas())).isEqualTo(":1");

    lastBeat(OTHER, Duration.ofSeconds(2));
    replicas.bury(OTHER);
    assertThat(redis.command("ZCARD", KEYS.replicas())).isEqualTo(":0");
  }
}
