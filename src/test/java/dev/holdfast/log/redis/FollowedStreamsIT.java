package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.last;
import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which streams count as followed by a client. */
class FollowedStreamsIT extends ReplicasFixture {

  private static final Duration HOUR = Duration.ofHours(1);

  private final AtomicReference<Set<String>> alive = new AtomicReference<>(Set.of("a", "b"));
  private final RedisFixture redis = closing(RedisFixture.start());
  private final EventLog a = replica(redis, "a");
  private final EventLog b = replica(redis, "b");

  @SuppressWarnings("NullAway.Init")
  private StreamIndex index;

  @BeforeEach
  void createIndex() {
    Replica reader =
        closing(
            new Replica("reader", redis.url(), LogTesting.retention(HOUR, HOUR, 1000, HOUR, 1000)));
    index = new RedisStreamIndex(reader.client, Replica.KEYS, alive::get);
  }

  private int followed() {
    return index.followed(List.of(session)).getFirst().size();
  }

  private static void leave(EventLog.Watch watch) {
    watch.leave(true);
    watch.close();
  }

  @Test
  void shouldCountAClientUntilItLeaves() {
    var _ = a.open(ref, "1");
    assertThat(followed()).isOne();
    EventLog.Watch first = a.watch(ref, Position.START, new CountingWatcher());
    assertThat(followed()).isOne();

    leave(first);
    await().untilAsserted(() -> assertThat(followed()).isZero());

    EventLog.Watch again = b.watch(ref, Position.START, new CountingWatcher());
    assertThat(followed()).isOne();
    leave(again);
    await().untilAsserted(() -> assertThat(followed()).isZero());
  }

  @Test
  void shouldTellSinceWhenAClientFollowsAStream() {
    var _ = a.open(ref, "1");
    a.watch(ref, Position.START, new CountingWatcher());
    assertThat(index.followed(List.of(session)).getFirst())
        .containsExactly(new StreamIndex.Connection(ref.name(), null));

    Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    b.watch(ref, Position.START, new CountingWatcher());

    assertThat(index.followed(List.of(session)).getFirst())
        .singleElement()
        .extracting(StreamIndex.Connection::since, as(InstanceOfAssertFactories.INSTANT))
        .isBetween(before, Instant.now());
  }

  /** The older connection of a client often ends after the newer one began elsewhere. */
  @Test
  void shouldCountAClientThatMovedBeforeItsOldConnectionEnded() {
    var _ = a.open(ref, "1");
    EventLog.Watch old = a.watch(ref, Position.START, new CountingWatcher());
    redis.command("HSET", Replica.KEYS.session(session.value()), "t:" + ref.name(), "b 5");

    leave(old);
    // Commands of a replica run in order.
    assertThat(a.deliveredUpTo(ref)).isNotNull();

    assertThat(followed()).isOne();
  }

  @Test
  void shouldNotCountAStreamThatNoClientFollowedYet() {
    StreamRef other = new StreamRef(session, "a2");
    var _ = a.openUnfollowed(ref, null);
    assertThat(followed()).isZero();

    a.watch(ref, Position.START, new CountingWatcher());
    var _ = a.open(other, "2");

    assertThat(followed()).isEqualTo(2);
  }

  @Test
  void shouldNotCountCompleteStreamsAndClientsOfLostReplicas() {
    StreamWriter writer = a.open(ref, "1");
    a.watch(ref, Position.START, new CountingWatcher());

    alive.set(Set.of("b"));
    assertThat(followed()).isZero();
    alive.set(Set.of("a"));
    assertThat(followed()).isOne();
    writer.append(List.of(last("1")));

    assertThat(followed()).isZero();
    assertThat(index.followed(List.of(new LogKey("unknown"), session)))
        .containsExactly(List.of(), List.of());
    assertThat(index.followed(List.of())).isEmpty();
  }
}
