package dev.holdfast.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogKey;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisClientFactory;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.RedisFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("alone")
class MembershipIT {

  private static final RedisKeys KEYS = new RedisKeys("test:");
  private static final HeartbeatTiming TIMING =
      new HeartbeatTiming(Duration.ofMillis(100), Duration.ofMillis(400));

  private final RedisFixture redis = RedisFixture.start();
  private final Vertx vertx = Vertx.vertx();
  private final List<Member> members = new ArrayList<>();

  @AfterEach
  void close() {
    members.forEach(member -> member.client.close());
    redis.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  /** A replica that records which sessions it adopts. */
  private final class Member {
    final ReplicaId id = ReplicaId.random();
    final RedisClient client =
        RedisClientFactory.create(
            vertx,
            () -> new RedisOptions().setConnectionString(redis.url()),
            Duration.ofMillis(300),
            RedisClient.Listener.NONE);
    final OwnedSessions sessions = new OwnedSessions(client, KEYS, id, Duration.ZERO);
    final Map<LogKey, ReplicaId> adopted = new ConcurrentHashMap<>();
    final AtomicInteger suspicions = new AtomicInteger();
    final AtomicBoolean refusing = new AtomicBoolean();
    final Membership membership;

    Member() {
      this(true);
    }

    Member(boolean beating) {
      this(beating, TIMING);
    }

    Member(boolean beating, HeartbeatTiming timing) {
      membership =
          new Membership(
              client, KEYS, id, timing, sessions, this::adopt, suspicions::incrementAndGet);
      members.add(this);
      if (beating) {
        membership.start();
        await().until(() -> score() > 0);
      }
    }

    private void adopt(LogKey session, ReplicaId lost) {
      if (refusing.get()) {
        throw new IllegalStateException("not now");
      }
      sessions.add(session);
      adopted.put(session, lost);
    }

    /** Cuts the connection, so that the replica falls silent. */
    void kill() {
      client.close();
    }

    long score() {
      String script = "return math.floor(tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '0'))";
      return number("EVAL", script, "1", KEYS.replicas(), id.value());
    }
  }

  /** Redis must not keep the replicas of a dismantled gateway. */
  @Test
  void shouldGiveEveryKeyATimeToLive() {
    for (Member member : List.of(new Member(false), new Member())) {
      member.sessions.add(new LogKey("s"));

      for (String key : List.of(KEYS.replicas(), KEYS.replicaSessions(member.id.value()))) {
        assertThat(number("PTTL", key)).as(key).isPositive();
      }
    }
  }

  private long number(String... command) {
    return Long.parseLong(redis.command(command).substring(1));
  }

  private boolean holds(Member member, String session) {
    return number("SISMEMBER", KEYS.replicaSessions(member.id.value()), session) == 1;
  }

  @Test
  void shouldAdoptTheSessionsOfALostReplica() {
    Member lost = new Member();
    Member survivor = new Member();
    for (int i = 0; i < 250; i++) {
      lost.sessions.add(new LogKey("s" + i));
    }

    lost.kill();

    await().until(() -> survivor.adopted.size() == 250);
    assertThat(survivor.adopted.values()).containsOnly(lost.id);
    await().until(() -> number("ZCARD", KEYS.replicas()) == 1);
    assertThat(number("EXISTS", KEYS.replicaSessions(lost.id.value()))).isZero();
    assertThat(number("SCARD", KEYS.replicaSessions(survivor.id.value()))).isEqualTo(250);
  }

  /** Something else may write to the keys of the gateway. */
  @Test
  void shouldAdoptAllSessionsButAMalformedOne() {
    Member lost = new Member();
    Member survivor = new Member();
    lost.sessions.add(new LogKey("s"));
    assertThat(number("SADD", KEYS.replicaSessions(lost.id.value()), "no session!")).isOne();

    lost.kill();

    await().until(() -> survivor.adopted.containsKey(new LogKey("s")));
    assertThat(survivor.adopted).hasSize(1);
  }

  /** Redis may have been away at its start, or may have lost the set of replicas. */
  @Test
  void shouldAdoptTheSessionsOfAReplicaWithoutHeartbeat() {
    Member survivor = new Member();
    Member lost = new Member(false);
    lost.sessions.add(new LogKey("s"));

    lost.kill();

    await().until(() -> survivor.adopted.containsKey(new LogKey("s")));
    await().until(() -> number("ZCARD", KEYS.replicas()) == 1);
  }

  @Test
  void shouldShareTheWorkAmongSurvivors() {
    Member lost = new Member();
    Member a = new Member();
    Member b = new Member();
    for (int i = 0; i < 250; i++) {
      lost.sessions.add(new LogKey("s" + i));
    }

    lost.kill();

    await().until(() -> number("ZCARD", KEYS.replicas()) == 2);
    assertThat(number("EXISTS", KEYS.replicaSessions(lost.id.value()))).isZero();
    for (int i = 0; i < 250; i++) {
      assertThat(
              a.adopted.containsKey(new LogKey("s" + i))
                  || b.adopted.containsKey(new LogKey("s" + i)))
          .isTrue();
    }
  }

  @Test
  void shouldOfferASessionAgainAfterAFailedAdoption() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      Member lost = new Member();
      Member survivor = new Member();
      lost.sessions.add(new LogKey("s"));
      survivor.refusing.set(true);

      lost.kill();
      log.await("adopting a session failed and will be repeated");
      assertThat(holds(lost, "s")).isTrue();
      survivor.refusing.set(false);

      await().until(() -> survivor.adopted.containsKey(new LogKey("s")));
    }
  }

  /** Somebody else may write to Redis. */
  @Test
  void shouldGoOnWhenTheSessionsOfALostReplicaCannotBeRead() {
    Member lost = new Member();
    Member survivor = new Member();
    redis.command("DEL", KEYS.replicaSessions(lost.id.value()));
    redis.command("SET", KEYS.replicaSessions(lost.id.value()), "not a set");
    try (LoggedLines log = new LoggedLines(Membership.class)) {
      lost.kill();

      log.await("adopting sessions of a lost replica paused reason=");
      redis.command("DEL", KEYS.replicaSessions(lost.id.value()));
      await().until(() -> number("ZCARD", KEYS.replicas()) == 1);
      assertThat(survivor.score()).isPositive();
    }
  }

  @Test
  void shouldSendHeartbeatsAfterAFailedOne() {
    AtomicInteger failures = new AtomicInteger();
    ReplicaId id = ReplicaId.random();
    Member other = new Member();
    Runnable failing =
        () -> {
          failures.incrementAndGet();
          throw new IllegalStateException("planted");
        };
    try (LoggedLines log = new LoggedLines(Membership.class);
        Membership membership =
            new Membership(other.client, KEYS, id, TIMING, other.sessions, (_, _) -> {}, failing)) {
      membership.start();

      log.await("heartbeat failed unexpectedly");
      await().until(() -> number("ZCARD", KEYS.replicas()) == 2);
      redis.command("ZREM", KEYS.replicas(), id.value());
      await().until(() -> failures.get() > 1);
    }
  }

  /** No replica could send heartbeats, so their absence proves nothing. */
  @Test
  void shouldFindNobodyLostAfterAnOutageOfRedis() {
    Member a = new Member();
    Member b = new Member();
    a.sessions.add(new LogKey("of-a"));
    b.sessions.add(new LogKey("of-b"));
    await().until(() -> System.currentTimeMillis() - a.score() < 200);

    redis.freeze();
    long frozen = System.nanoTime();
    await().until(() -> System.nanoTime() - frozen > TIMING.deadAfter().multipliedBy(4).toNanos());
    redis.thaw();

    long thawed = System.nanoTime();
    await().until(() -> System.nanoTime() - thawed > TIMING.deadAfter().multipliedBy(3).toNanos());
    assertThat(a.adopted).isEmpty();
    assertThat(b.adopted).isEmpty();
    assertThat(number("ZCARD", KEYS.replicas())).isEqualTo(2);
  }

  /** A network that breaks again and again must not fill the log. */
  @Test
  void shouldLogAnOutageOfRedisOnlyOnceInAWhile() {
    try (LoggedLines log = new LoggedLines(Membership.class)) {
      long begun = System.nanoTime();
      Member member = new Member();
      for (int i = 0; i < 4; i++) {
        redis.freeze();
        // Longer than the timeout of a command.
        long frozen = System.nanoTime();
        await().until(() -> System.nanoTime() - frozen > Duration.ofSeconds(1).toNanos());
        redis.thaw();
        long before = member.score();
        await().until(() -> member.score() > before);
      }

      // The replica of another test may still be there.
      long most = 2 + Duration.ofNanos(System.nanoTime() - begun).toSeconds() / 10;
      assertThat(log.lines().stream().filter(line -> line.contains("is away")).count())
          .isBetween(1L, most);
      assertThat(log.lines().stream().filter(line -> line.contains("is back")).count())
          .isBetween(1L, most);
    }
  }

  /** A frozen replica that is thawed after other replicas forgot it. */
  @Test
  void shouldComeBackAfterItWasForgotten() {
    Member survivor = new Member();
    Member zombie = new Member();
    zombie.sessions.add(new LogKey("s"));
    await().until(() -> zombie.suspicions.get() > 3);
    await().pollDelay(TIMING.deadAfter()).until(() -> survivor.score() > 0);
    int doubts = zombie.suspicions.get();

    redis.command("ZREM", KEYS.replicas(), zombie.id.value());
    redis.command("DEL", KEYS.replicaSessions(zombie.id.value()));

    await().until(() -> zombie.suspicions.get() > doubts);
    await().until(() -> zombie.score() > 0 && holds(zombie, "s"));
  }

  @Test
  void shouldBeAdoptedAtOnceWhenItLeaves() {
    HeartbeatTiming patient = new HeartbeatTiming(TIMING.heartbeat(), Duration.ofHours(1));
    Member leaving = new Member(true, patient);
    Member survivor = new Member(true, patient);
    leaving.sessions.add(new LogKey("s"));

    leaving.membership.close();

    await().until(() -> survivor.adopted.containsKey(new LogKey("s")));
  }

  /** A draining replica adopts nothing, but must not be considered lost. */
  @Test
  void shouldAdoptNothingOnceAdoptionStopped() {
    Member lost = new Member();
    Member draining = new Member();
    Member survivor = new Member();
    survivor.refusing.set(true);
    lost.sessions.add(new LogKey("s"));
    draining.membership.stopAdopting();

    lost.kill();
    await().until(() -> System.currentTimeMillis() - lost.score() > 1500);
    assertThat(draining.score()).isGreaterThan(lost.score());
    survivor.refusing.set(false);

    await().until(() -> survivor.adopted.containsKey(new LogKey("s")));
    assertThat(draining.adopted).isEmpty();
  }

  @Test
  void shouldLeaveOnce() {
    Member leaving = new Member();
    Member other = new Member();

    assertThat(leaving.membership.leave()).isTrue();
    assertThat(leaving.membership.leave()).isFalse();

    leaving.membership.close();
    await().until(() -> number("ZCARD", KEYS.replicas()) == 1);
    assertThat(other.score()).isPositive();
  }

  @Test
  void shouldRemoveSessionsThatAreNotWritten() {
    Member member = new Member();
    member.sessions.add(new LogKey("idle"));
    member.sessions.add(new LogKey("busy"));

    member.sessions.sweep(new LogKey("busy")::equals);

    assertThat(holds(member, "idle")).isFalse();
    assertThat(holds(member, "busy")).isTrue();
    member.sessions.add(new LogKey("idle"));
    assertThat(holds(member, "idle")).isTrue();
  }

  /**
   * A server of a cluster may lose its newest writes while another still has the set of replicas.
   */
  @Test
  void shouldRecordAgainWhatRedisLost() {
    Member member = new Member();
    member.sessions.add(new LogKey("busy"));

    redis.command("DEL", KEYS.replicaSessions(member.id.value()));
    member.sessions.sweep(new LogKey("busy")::equals);

    assertThat(holds(member, "busy")).isTrue();
  }
}
