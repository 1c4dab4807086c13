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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MembershipIT {

  private static final RedisKeys KEYS = new RedisKeys("test:");
  private static final HeartbeatTiming PULSE =
      new HeartbeatTiming(Duration.ofMillis(100), Duration.ofMillis(400));

  private final RedisFixture redis = RedisFixture.start();
  private final Vertx vertx = Vertx.vertx();
  private final List<Member> members = new ArrayList<>();

  @AfterEach
  void close() {
    members.forEach(member -> member.link.close());
    redis.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  /** A replica that notes what it inherits. */
  private final class Member {
    final ReplicaId id = ReplicaId.random();
    final RedisClient link =
        RedisClientFactory.create(
            vertx, new RedisOptions().setConnectionString(redis.url()), Duration.ofMillis(300));
    final OwnedSessions sessions = new OwnedSessions(link, KEYS, id, Duration.ZERO);
    final Map<String, ReplicaId> inherited = new ConcurrentHashMap<>();
    final AtomicInteger doubts = new AtomicInteger();
    final AtomicBoolean refusing = new AtomicBoolean();
    final Membership membership =
        new Membership(link, KEYS, id, PULSE, sessions, this::inherit, doubts::incrementAndGet);

    Member() {
      this(true);
    }

    Member(boolean beating) {
      members.add(this);
      if (beating) {
        membership.start();
        await().until(() -> score() > 0);
      }
    }

    private void inherit(String session, ReplicaId lost) {
      if (refusing.get()) {
        throw new IllegalStateException("not now");
      }
      sessions.add(session);
      inherited.put(session, lost);
    }

    /** As good as killed: it says nothing any more. */
    void kill() {
      link.close();
    }

    long score() {
      String script = "return math.floor(tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '0'))";
      return number("EVAL", script, "1", KEYS.replicas(), id.value());
    }
  }

  /** Whoever dismantles a gateway shall not find its replicas in Redis years later. */
  @Test
  void shouldKeepNothingForEver() {
    for (Member member : List.of(new Member(false), new Member())) {
      member.sessions.add("s");

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
  void shouldInheritTheSessionsOfALostReplica() {
    Member lost = new Member();
    Member heir = new Member();
    for (int i = 0; i < 250; i++) {
      lost.sessions.add("s" + i);
    }

    lost.kill();

    await().until(() -> heir.inherited.size() == 250);
    assertThat(heir.inherited.values()).containsOnly(lost.id);
    await().until(() -> number("ZCARD", KEYS.replicas()) == 1);
    assertThat(number("EXISTS", KEYS.replicaSessions(lost.id.value()))).isZero();
    assertThat(number("SCARD", KEYS.replicaSessions(heir.id.value()))).isEqualTo(250);
  }

  /** Redis may have been away when it started, or may have lost the list of all. */
  @Test
  void shouldInheritTheSessionsOfAReplicaThatNeverBeat() {
    Member heir = new Member();
    Member lost = new Member(false);
    lost.sessions.add("s");

    lost.kill();

    await().until(() -> heir.inherited.containsKey("s"));
    await().until(() -> number("ZCARD", KEYS.replicas()) == 1);
  }

  @Test
  void shouldLetSeveralShareTheWork() {
    Member lost = new Member();
    Member a = new Member();
    Member b = new Member();
    for (int i = 0; i < 250; i++) {
      lost.sessions.add("s" + i);
    }

    lost.kill();

    await().until(() -> number("ZCARD", KEYS.replicas()) == 2);
    assertThat(number("EXISTS", KEYS.replicaSessions(lost.id.value()))).isZero();
    for (int i = 0; i < 250; i++) {
      assertThat(a.inherited.containsKey("s" + i) || b.inherited.containsKey("s" + i)).isTrue();
    }
  }

  @Test
  void shouldOfferAgainWhatCouldNotBeInherited() {
    Member lost = new Member();
    Member heir = new Member();
    lost.sessions.add("s");
    heir.refusing.set(true);

    lost.kill();
    await().until(() -> System.currentTimeMillis() - lost.score() > 1000);
    assertThat(holds(lost, "s")).isTrue();
    heir.refusing.set(false);

    await().until(() -> heir.inherited.containsKey("s"));
  }

  /** Nobody could say a word, so that nobody did proves nothing. */
  @Test
  void shouldThinkNobodyLostBecauseRedisWasAway() {
    Member a = new Member();
    Member b = new Member();
    a.sessions.add("of-a");
    b.sessions.add("of-b");
    await().until(() -> System.currentTimeMillis() - a.score() < 200);

    redis.freeze();
    long frozen = System.nanoTime();
    await().until(() -> System.nanoTime() - frozen > PULSE.deadAfter().multipliedBy(4).toNanos());
    redis.thaw();

    long thawed = System.nanoTime();
    await().until(() -> System.nanoTime() - thawed > PULSE.deadAfter().multipliedBy(3).toNanos());
    assertThat(a.inherited).isEmpty();
    assertThat(b.inherited).isEmpty();
    assertThat(number("ZCARD", KEYS.replicas())).isEqualTo(2);
  }

  /** A frozen replica that wakes after it was buried. */
  @Test
  void shouldComeBackAfterItWasTakenForLost() {
    Member heir = new Member();
    Member zombie = new Member();
    zombie.sessions.add("s");
    await().until(() -> zombie.doubts.get() > 3);
    await().pollDelay(PULSE.deadAfter()).until(() -> heir.score() > 0);
    int doubts = zombie.doubts.get();

    redis.command("ZREM", KEYS.replicas(), zombie.id.value());
    redis.command("DEL", KEYS.replicaSessions(zombie.id.value()));

    await().until(() -> zombie.doubts.get() > doubts);
    await().until(() -> zombie.score() > 0 && holds(zombie, "s"));
  }

  @Test
  void shouldBeInheritedAtOnceWhenItLeaves() {
    Member leaving = new Member();
    Member heir = new Member();
    leaving.sessions.add("s");
    await().pollDelay(PULSE.deadAfter().multipliedBy(2)).until(() -> heir.score() > 0);

    leaving.membership.close();

    await().atMost(PULSE.deadAfter()).until(() -> heir.inherited.containsKey("s"));
  }

  /** It has enough to do with what it has, and yet is not to be taken for lost. */
  @Test
  void shouldInheritNothingOnceItRetires() {
    Member lost = new Member();
    Member retired = new Member();
    Member heir = new Member();
    heir.refusing.set(true);
    lost.sessions.add("s");
    retired.membership.retire();

    lost.kill();
    await().until(() -> System.currentTimeMillis() - lost.score() > 1500);
    assertThat(System.currentTimeMillis() - retired.score()).isLessThan(1000);
    heir.refusing.set(false);

    await().until(() -> heir.inherited.containsKey("s"));
    assertThat(retired.inherited).isEmpty();
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
  void shouldForgetSessionsOfWhichNothingIsWrittenAnyMore() {
    Member member = new Member();
    member.sessions.add("idle");
    member.sessions.add("busy");

    member.sessions.sweep("busy"::equals);

    assertThat(holds(member, "idle")).isFalse();
    assertThat(holds(member, "busy")).isTrue();
    member.sessions.add("idle");
    assertThat(holds(member, "idle")).isTrue();
  }

  /** A server of a cluster may lose its newest writes while the list of all is on another. */
  @Test
  void shouldRecordOnceMoreWhatRedisHasLost() {
    Member member = new Member();
    member.sessions.add("busy");

    redis.command("DEL", KEYS.replicaSessions(member.id.value()));
    member.sessions.sweep("busy"::equals);

    assertThat(holds(member, "busy")).isTrue();
  }
}
