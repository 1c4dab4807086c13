package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisProxy;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tails on several replicas: wake-ups, evictions, and lost subscriptions. */
class TailsIT extends ReplicasFixture {

  @Test
  void shouldFollowAStreamOfAnotherReplica() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog writing = replica(redis, "a");
    EventLog reading = replica(redis, "b");
    StreamWriter writer = writing.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    reading.watch(ref, Position.START, watcher);

    writer.append(numbered(1, 5));
    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    List<LogEvent> five = readAll(reading, ref, Position.START);
    int wakes = watcher.wakes();
    writer.append(List.of(event("6"), last("7")));

    await().untilAsserted(() -> assertThat(watcher.wakes()).isGreaterThan(wakes));
    List<LogEvent> rest = readAll(reading, ref, five.getLast().position());
    assertThat(payloads(five)).containsExactly("1", "2", "3", "4", "5");
    assertThat(payloads(rest)).containsExactly("6", "7");
    assertThat(readAll(writing, ref, Position.START)).hasSize(7);
  }

  @Test
  void shouldEvictTheTailOfAnotherReplica() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog a = replica(redis, "a");
    EventLog b = replica(redis, "b");
    StreamWriter writer = a.open(ref, "1");
    CountingWatcher first = new CountingWatcher();
    CountingWatcher second = new CountingWatcher();
    CountingWatcher third = new CountingWatcher();

    a.watch(ref, Position.START, first);
    b.watch(ref, Position.START, second);
    await().untilAsserted(() -> assertThat(first.evictions()).isEqualTo(1));
    a.watch(ref, Position.START, third);
    await().untilAsserted(() -> assertThat(second.evictions()).isEqualTo(1));
    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(third.wakes()).isPositive());
    assertThat(third.evictions()).isZero();
  }

  /** An eviction can arrive late. It must not evict a tail that came after the evicted one. */
  @Test
  void shouldNotEvictANewerTail() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog a = replica(redis, "a");
    EventLog b = replica(redis, "b");
    a.open(ref, "1");
    CountingWatcher newest = new CountingWatcher();

    for (int i = 0; i < 50; i++) {
      b.watch(ref, Position.START, new CountingWatcher());
      a.watch(ref, Position.START, new CountingWatcher());
    }
    b.watch(ref, Position.START, newest);
    CountingWatcher other = new CountingWatcher();
    StreamRef marker = new StreamRef(ref.key(), "b");
    StreamWriter markerWriter = a.open(marker, "2");
    b.watch(marker, Position.START, other);
    markerWriter.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(other.wakes()).isPositive());
    assertThat(newest.evictions()).isZero();
  }

  @Test
  void shouldSubscribeAgainWhenTheSubscriptionIsKilled() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog a = replica(redis, "a");
    EventLog b = replica(redis, "b");
    StreamWriter writer = a.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    b.watch(ref, Position.START, watcher);

    assertThat(redis.command("CLIENT", "KILL", "TYPE", "pubsub")).isEqualTo(":2");

    await().untilAsserted(() -> assertThat(watcher.wakes()).isEqualTo(1));
    writer.append(numbered(1, 1));
    await().untilAsserted(() -> assertThat(watcher.wakes()).isEqualTo(2));
  }

  /** A subscription can break silently, when a firewall forgets the connection. */
  @Test
  void shouldSubscribeAgainWhenTheSubscriptionIsSilent() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      RedisFixture redis = closing(RedisFixture.start());
      RedisProxy proxy = proxy(redis);
      EventLog a = replica(redis, "a");
      EventLog b = replica(redis, "b", redis.url(), proxy.url());
      StreamWriter writer = a.open(ref, "1");
      CountingWatcher watcher = new CountingWatcher();
      b.watch(ref, Position.START, watcher);

      proxy.muteConnections();
      writer.append(numbered(1, 1));

      await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
      assertThat(proxy.connections()).isEqualTo(2);
      log.await("subscription to Redis receives nothing, subscribing again");
    }
  }

  /** Such a tail would not be woken again, because wake-ups go to the newer tail. */
  @Test
  void shouldLearnOfAnEvictionThatItMissed() {
    RedisFixture redis = closing(RedisFixture.start());
    RedisProxy proxy = proxy(redis);
    EventLog a = replica(redis, "a");
    RedisEventLog b = replica(redis, "b", redis.url(), proxy.url());
    StreamRef other = new StreamRef(ref.key(), "a2");
    a.open(ref, "1");
    b.open(other, "2");
    CountingWatcher evicted = new CountingWatcher();
    CountingWatcher evictedToo = new CountingWatcher();
    CountingWatcher staying = new CountingWatcher();
    StreamRef third = new StreamRef(ref.key(), "a3");
    a.open(third, "3");
    CountingWatcher first = new CountingWatcher();
    a.watch(ref, Position.START, first);
    b.watch(ref, Position.START, evicted);
    // Before that, the owner may take the recorded tail for its own first watcher.
    await().untilAsserted(() -> assertThat(first.evictions()).isEqualTo(1));
    b.watch(other, Position.START, evictedToo);
    b.watch(third, Position.START, staying);

    proxy.muteConnections();
    a.watch(ref, Position.START, new CountingWatcher());
    a.watch(other, Position.START, new CountingWatcher());
    b.shared().catchUp(_ -> true);

    await().untilAsserted(() -> assertThat(evicted.evictions()).isEqualTo(1));
    await().untilAsserted(() -> assertThat(evictedToo.evictions()).isEqualTo(1));
    assertThat(staying.evictions()).isZero();
  }

  @Test
  void shouldWakeWatchersWhoseWakeUpsWereLost() {
    RedisFixture redis = closing(RedisFixture.start());
    RedisEventLog log = replica(redis, "a");
    log.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    CountingWatcher sharing = new CountingWatcher();
    log.watch(ref, Position.START, watcher);
    log.watchShared(ref, sharing);
    List<CountingWatcher> all = List.of(watcher, sharing);

    // A change before the first look may have been missed, too.
    log.shared().catchUp(_ -> true);
    assertThat(all).extracting(CountingWatcher::wakes).containsOnly(1);
    log.shared().catchUp(_ -> true);
    assertThat(all).extracting(CountingWatcher::wakes).containsOnly(1);
    // Nothing tells of this.
    redis.command("HSET", Replica.KEYS.session(ref.key().value()), "l:" + ref.name(), "1-1");
    log.shared().catchUp(_ -> true);
    assertThat(all).extracting(CountingWatcher::wakes).containsOnly(2);

    redis.kill();
    assertThatThrownBy(() -> log.shared().catchUp(_ -> true))
        .isInstanceOf(LogException.StoreUnavailable.class);
    assertThat(all).allSatisfy(each -> assertThat(each.wakes()).isGreaterThan(2));
  }

  /** Somebody else may write to Redis. */
  @Test
  void shouldGoOnWhenTheRecordOfSizesIsWrong() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    List<String> keys = Replica.KEYS.allSizes();
    redis.command("ZADD", keys.get(0), "1e30", "somebody");
    redis.command("SET", keys.get(1), "1000000000000000");
    redis.command("HSET", Replica.KEYS.session("somebody"), "log", "1");
    redis.command("HSET", Replica.KEYS.sizes("somebody"), "b", "1e30");
    try (LoggedLines lines = new LoggedLines(RedisEventLog.class)) {
      writer.append(numbered(1, 1));

      lines.await("a report to Redis failed unexpectedly");
      redis.command("DEL", keys.get(0), keys.get(1));
      writer.append(List.of(last("2")));
      assertThat(readAll(log, ref, Position.START)).hasSize(2);
    }
  }

  @Test
  void shouldServeALocalTailWithoutRedis() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");

    redis.freeze();
    log.watch(ref, Position.START, new CountingWatcher());
    List<LogEvent> nothing = events(log.read(ref, Position.START, 10));
    redis.thaw();
    Position head = writer.append(numbered(1, 3));
    redis.freeze();
    List<LogEvent> two = events(log.read(ref, Position.START, 2));
    List<LogEvent> third = events(log.read(ref, two.getLast().position(), 2));
    List<LogEvent> none = events(log.read(ref, head, 2));
    List<LogEvent> stillNone = events(log.read(ref, head, 2));
    Throwable asksRedis = catchThrowable(() -> log.read(ref, Position.START, 2));
    redis.thaw();

    assertThat(nothing).isEmpty();
    assertThat(payloads(two)).containsExactly("1", "2");
    assertThat(payloads(third)).containsExactly("3");
    assertThat(none).isEmpty();
    assertThat(stillNone).isEmpty();
    assertThat(asksRedis).isInstanceOf(LogException.StoreUnavailable.class);
  }

  /** A former owner that does not know its successor yet must not hide the successor's events. */
  @Test
  void shouldShowALocalTailWhatAnotherOwnerWrote() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter fenced = log.open(ref, "1");
    log.watch(ref, Position.START, new CountingWatcher());
    Position first = fenced.append(numbered(1, 1));
    assertThat(events(log.read(ref, first, 10))).isEmpty();
    String key = Replica.KEYS.session(ref.key().value());
    String second = first.millis() + "-2";

    redis.command("HSET", key, "o:" + ref.name(), "b f00d", "l:" + ref.name(), second);
    redis.command("XADD", Replica.KEYS.stream(ref.key().value(), ref.name()), second, "d", "2");

    assertThat(payloads(log.read(ref, first, 10))).containsExactly("2");
  }

  /** A writer on one replica, whose reader is on another one and is a window behind. */
  private final class FarReader {
    final RedisFixture redis = closing(RedisFixture.start());
    final EventLog writing = replica(redis, "a");
    final EventLog reading = replica(redis, "b");
    final StreamWriter writer = writing.open(ref, "1");
    final EventLog.Watch watch;

    FarReader() {
      writing.watch(ref, Position.START, new CountingWatcher()).close();
      watch = reading.watch(ref, Position.START, new CountingWatcher());
      for (int n = 1; n <= 2000; n++) {
        writer.append(numbered(n, n));
      }
      assertThat(writer.hasRoom(List.of(event("next")))).isFalse();
    }
  }

  @Test
  void shouldHoldBackForAReaderOnAnotherReplica() throws Exception {
    FarReader far = new FarReader();

    List<LogEvent> page = events(far.reading.read(ref, Position.START, 1000));
    far.watch.advanced(page.getLast().position(), 1000);

    far.writer.awaitRoom(List.of(event("next")));
    assertThat(far.writer.hasRoom(List.of(event("next")))).isTrue();
  }

  @Test
  void shouldNotWaitForAReaderThatLeftAnotherReplica() throws Exception {
    FarReader far = new FarReader();

    far.watch.leave(true);
    far.watch.close();

    far.writer.awaitRoom(List.of(event("next")));
  }

  @Test
  void shouldNotWaitForAReaderWhoseReplicaIsLost() throws Exception {
    FarReader far = new FarReader();

    Replica.REPLICAS.remove("b");

    far.writer.awaitRoom(List.of(event("next")));
    String key = Replica.KEYS.session(ref.key().value());
    await()
        .untilAsserted(() -> assertThat(far.redis.command("HGET", key, "t:a1")).isEqualTo("$-1"));
  }
}
