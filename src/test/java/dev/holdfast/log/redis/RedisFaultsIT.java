package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.FencedException;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.OutcomeUnknownException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What Redis, the network and other replicas can do to a log. */
class RedisFaultsIT {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Retention RETENTION = new Retention(HOUR, HOUR, 100_000, HOUR, 100);
  private static final Duration BACK_OFF = Duration.ofMillis(1);
  private static final Duration TIMEOUT = Duration.ofMillis(700);

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final StreamRef ref = new StreamRef("s" + UUID.randomUUID(), "a1");

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable closeable : opened.reversed()) {
      closeable.close();
    }
  }

  private <T extends AutoCloseable> T closing(T closeable) {
    opened.add(closeable);
    return closeable;
  }

  private EventLog replica(RedisFixture redis, String name) {
    return replica(name, redis.url(), redis.url(), redis.url());
  }

  private EventLog replica(String name, String commands, String channel, String beats) {
    EventLog log = closing(new Replica(name, commands, channel, beats, TIMEOUT, RETENTION)).log;
    log.begin(ref.session());
    return log;
  }

  /** Appends until the log says that it has the events, as the caller of a failed append does. */
  private static Position persist(StreamWriter writer, List<NewEvent> events) {
    while (true) {
      try {
        return writer.append(events);
      } catch (OutcomeUnknownException | StoreUnavailableException again) {
        LockSupport.parkNanos(BACK_OFF.toNanos());
      }
    }
  }

  @Test
  void shouldFollowAStreamOfAnotherReplica() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog writing = replica(redis, "a");
    EventLog reading = replica(redis, "b");
    StreamWriter writer = writing.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    reading.watch(ref, watcher);

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

    a.watch(ref, first);
    b.watch(ref, second);
    await().untilAsserted(() -> assertThat(first.evictions()).isEqualTo(1));
    a.watch(ref, third);
    await().untilAsserted(() -> assertThat(second.evictions()).isEqualTo(1));
    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(third.wakes()).isPositive());
    assertThat(third.evictions()).isZero();
  }

  /** Word of an eviction can be late: it must not hit a tail that came after the evicted one. */
  @Test
  void shouldEvictNobodyNewer() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog a = replica(redis, "a");
    EventLog b = replica(redis, "b");
    a.open(ref, "1");
    CountingWatcher newest = new CountingWatcher();

    for (int i = 0; i < 50; i++) {
      b.watch(ref, new CountingWatcher());
      a.watch(ref, new CountingWatcher());
    }
    b.watch(ref, newest);
    CountingWatcher other = new CountingWatcher();
    StreamRef marker = new StreamRef(ref.session(), "b");
    StreamWriter markerWriter = a.open(marker, "2");
    b.watch(marker, other);
    markerWriter.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(other.wakes()).isPositive());
    assertThat(newest.evictions()).isZero();
  }

  @Test
  void shouldFenceAZombie() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter zombie = log.open(ref, "1");
    zombie.append(numbered(1, 1));

    redis.command("HSET", Replica.KEYS.session(ref.session()), "o:" + ref.name(), "b f00d");

    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> zombie.append(numbered(2, 2)));
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> zombie.append(numbered(2, 2)));
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1");
  }

  @Test
  void shouldEndASessionOnEveryReplica() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog a = replica(redis, "a");
    EventLog b = replica(redis, "b");
    StreamWriter writer = a.open(ref, "1");
    writer.append(numbered(1, 1));
    CountingWatcher watcher = new CountingWatcher();
    b.watch(ref, watcher);

    b.end(ref.session());

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
    assertThat(a.read(ref, Position.START, 1)).isEqualTo(new ReadResult.NoSuchStream());
    assertThat(redis.command("DBSIZE")).isEqualTo(":0");
  }

  @Test
  void shouldNotWriteTwiceWhenTheAnswerIsLost() {
    RedisFixture redis = closing(RedisFixture.start());
    RedisProxy proxy = closing(new RedisProxy(redis.port()));
    EventLog log = replica("a", proxy.url(), redis.url(), redis.url());
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 1));
    List<NewEvent> batch = numbered(2, 4);

    proxy.cutAtNextReplies(1);
    assertThatExceptionOfType(OutcomeUnknownException.class).isThrownBy(() -> writer.append(batch));
    Position again = writer.append(batch);
    Position next = writer.append(numbered(5, 5));

    assertThat(again.number()).isEqualTo(4);
    assertThat(next.number()).isEqualTo(5);
    List<LogEvent> read = readAll(log, ref, Position.START);
    assertThat(payloads(read)).containsExactly("1", "2", "3", "4", "5");
    assertThat(read.get(3).position()).isEqualTo(again);
  }

  @Test
  void shouldSettleALostAnswerBeforeAnythingElse() {
    RedisFixture redis = closing(RedisFixture.start());
    RedisProxy proxy = closing(new RedisProxy(redis.port()));
    EventLog log = replica("a", proxy.url(), redis.url(), redis.url());
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 1));
    List<NewEvent> lost = numbered(2, 2);

    proxy.cutAtNextReplies(1);
    assertThatExceptionOfType(OutcomeUnknownException.class).isThrownBy(() -> writer.append(lost));
    Position other = writer.append(numbered(3, 3));
    Position late = writer.append(lost);

    assertThat(other.number()).isEqualTo(3);
    assertThat(late.number()).isEqualTo(2);
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1", "2", "3");
  }

  @Test
  void shouldFindTheLastEventWhoseAnswerWasLost() {
    RedisFixture redis = closing(RedisFixture.start());
    RedisProxy proxy = closing(new RedisProxy(redis.port()));
    EventLog log = replica("a", proxy.url(), redis.url(), redis.url());
    StreamWriter writer = log.open(ref, "1");
    List<NewEvent> end = List.of(event("1"), last("2"));

    proxy.cutAtNextReplies(2);
    assertThatExceptionOfType(OutcomeUnknownException.class).isThrownBy(() -> writer.append(end));
    assertThatExceptionOfType(OutcomeUnknownException.class).isThrownBy(() -> writer.append(end));
    Position position = writer.append(end);

    assertThat(position.number()).isEqualTo(2);
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1", "2");
    assertThat(log.read(ref, position, 1)).isEqualTo(new ReadResult.EndOfStream());
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> writer.append(numbered(3, 3)));
  }

  @Test
  void shouldOpenOnceThoughTheAnswerIsLost() {
    RedisFixture redis = closing(RedisFixture.start());
    RedisProxy proxy = closing(new RedisProxy(redis.port()));
    EventLog log = replica("a", proxy.url(), redis.url(), redis.url());

    proxy.cutAtNextReplies(1);
    StreamWriter writer = log.open(ref, "1");

    assertThat(proxy.cutsLeft()).isZero();
    assertThat(writer.append(numbered(1, 1)).number()).isEqualTo(1);
  }

  /** Many callers, whose answers get lost all the time, each persisting. */
  @Test
  void shouldWriteEverythingOnceHoweverManyAnswersAreLost() throws Exception {
    RedisFixture redis = closing(RedisFixture.start());
    RedisProxy proxy = closing(new RedisProxy(redis.port()));
    EventLog log = replica("a", proxy.url(), redis.url(), redis.url());
    StreamWriter writer = log.open(ref, "1");

    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int thread = 0; thread < 20; thread++) {
        String name = "t" + thread + ":";
        running.add(
            executor.submit(() -> {
              for (int i = 0; i < 100; i++) {
                if (i % 10 == 0) {
                  proxy.cutAtNextReplies(1);
                }
                persist(writer, List.of(event(name + i)));
              }
            }));
      }
      for (Future<?> future : running) {
        future.get();
      }
    }
    proxy.cutAtNextReplies(0);

    List<LogEvent> read = readAll(log, ref, Position.START);
    assertThat(read).hasSize(2000);
    Map<String, Integer> next = new HashMap<>();
    for (int i = 0; i < read.size(); i++) {
      assertThat(read.get(i).position().number()).isEqualTo(i + 1);
      String payload = payloads(read).get(i);
      String thread = payload.substring(0, payload.indexOf(':') + 1);
      assertThat(payload).isEqualTo(thread + (next.merge(thread, 1, Integer::sum) - 1));
    }
  }

  @Test
  void shouldFailInTimeWhileRedisIsFrozenAndGoOnAfterwards() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 1));
    List<NewEvent> batch = numbered(2, 2);

    redis.freeze();
    long before = System.nanoTime();
    Throwable appending = catchThrowable(() -> writer.append(batch));
    Throwable reading = catchThrowable(() -> log.read(ref, Position.START, 10));
    Throwable checking = catchThrowable(log::check);
    Duration took = Duration.ofNanos(System.nanoTime() - before);
    redis.thaw();

    assertThat(appending).isInstanceOf(OutcomeUnknownException.class);
    assertThat(reading).isInstanceOf(StoreUnavailableException.class);
    assertThat(checking).isInstanceOf(StoreUnavailableException.class);
    assertThat(took).isLessThan(TIMEOUT.multipliedBy(4));
    assertThat(persist(writer, batch).number()).isEqualTo(2);
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1", "2");
  }

  @Test
  void shouldGoOnAfterARestart() {
    RedisFixture redis = closing(RedisFixture.startDurable());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    log.watch(ref, watcher);
    Position first = writer.append(numbered(1, 1));

    redis.kill();
    assertThat(catchThrowable(() -> writer.append(numbered(2, 2))))
        .isInstanceOfAny(StoreUnavailableException.class, OutcomeUnknownException.class);
    int wakes = watcher.wakes();
    redis.restart();

    // Whether the second was written is nobody's promise: its caller has not come back.
    Position last = persist(writer, numbered(3, 3));
    List<LogEvent> read = readAll(log, ref, Position.START);
    assertThat(payloads(read)).startsWith("1").endsWith("3").doesNotHaveDuplicates();
    assertThat(read.getFirst().position()).isEqualTo(first);
    assertThat(read.getLast().position()).isEqualTo(last);
    await().untilAsserted(() -> assertThat(watcher.wakes()).isGreaterThan(wakes + 1));
  }

  @Test
  void shouldSubscribeAnewWhenTheSubscriptionIsKilled() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog a = replica(redis, "a");
    EventLog b = replica(redis, "b");
    StreamWriter writer = a.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    b.watch(ref, watcher);

    assertThat(redis.command("CLIENT", "KILL", "TYPE", "pubsub")).isEqualTo(":2");

    await().untilAsserted(() -> assertThat(watcher.wakes()).isEqualTo(1));
    writer.append(numbered(1, 1));
    await().untilAsserted(() -> assertThat(watcher.wakes()).isEqualTo(2));
  }

  /** A subscription can die without a word, when a firewall forgets the connection. */
  @Test
  void shouldSubscribeAnewWhenTheSubscriptionIsDeaf() {
    RedisFixture redis = closing(RedisFixture.start());
    RedisProxy proxy = closing(new RedisProxy(redis.port()));
    EventLog a = replica(redis, "a");
    EventLog b = replica("b", redis.url(), proxy.url(), redis.url());
    StreamWriter writer = a.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    b.watch(ref, watcher);

    proxy.muteConnections();
    writer.append(numbered(1, 1));

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThat(proxy.connections()).isEqualTo(2);
  }

  /** It would be woken no more: wake-ups go to the newer tail. */
  @Test
  void shouldLearnOfAnEvictionThatItCouldNotHear() {
    RedisFixture redis = closing(RedisFixture.start());
    RedisProxy proxy = closing(new RedisProxy(redis.port()));
    EventLog a = replica(redis, "a");
    EventLog b = replica("b", redis.url(), proxy.url(), redis.url());
    StreamRef other = new StreamRef(ref.session(), "a2");
    a.open(ref, "1");
    b.open(other, "2");
    CountingWatcher evicted = new CountingWatcher();
    CountingWatcher unseated = new CountingWatcher();
    CountingWatcher staying = new CountingWatcher();
    StreamRef third = new StreamRef(ref.session(), "a3");
    a.open(third, "3");
    CountingWatcher first = new CountingWatcher();
    a.watch(ref, first);
    b.watch(ref, evicted);
    // Until then the owner may give its first seat away, and be right: the tail is elsewhere.
    await().untilAsserted(() -> assertThat(first.evictions()).isEqualTo(1));
    b.watch(other, unseated);
    b.watch(third, staying);

    proxy.muteConnections();
    a.watch(ref, new CountingWatcher());
    a.watch(other, new CountingWatcher());

    await().untilAsserted(() -> assertThat(evicted.evictions()).isEqualTo(1));
    await().untilAsserted(() -> assertThat(unseated.evictions()).isEqualTo(1));
    assertThat(staying.evictions()).isZero();
  }

  @Test
  void shouldBringItsScriptsAlong() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    Position first = writer.append(numbered(1, 1));

    redis.command("SCRIPT", "FLUSH");
    Position second = writer.append(numbered(2, 2));
    redis.command("SCRIPT", "FLUSH");
    log.markDelivered(ref, first);

    assertThat(second.number()).isEqualTo(2);
    await().untilAsserted(() -> assertThat(log.deliveredUpTo(ref)).isEqualTo(first));
  }

  @Test
  void shouldReportALostStream() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    Position first = writer.append(numbered(1, 1));
    Position third = writer.append(numbered(2, 3));

    redis.command("DEL", Replica.KEYS.stream(ref.session(), ref.name()));

    assertThat(log.read(ref, Position.START, 10)).isEqualTo(new ReadResult.Gap(null, third));
    assertThat(log.read(ref, first, 10)).isEqualTo(new ReadResult.Gap(null, third));
    assertThat(events(log.read(ref, third, 10))).isEmpty();
    Position fourth = writer.append(numbered(4, 4));
    assertThat(log.read(ref, first, 10)).isEqualTo(new ReadResult.Gap(fourth));
    assertThat(payloads(log.read(ref, third, 10))).containsExactly("4");
  }

  /** A master that fails may take the newest writes with it; its heir numbers anew. */
  @Test
  void shouldReportLostEventsInTheMiddleAndAtTheEnd() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    List<Position> positions = new ArrayList<>();
    for (int n = 1; n <= 5; n++) {
      positions.add(writer.append(numbered(n, n)));
    }
    String key = Replica.KEYS.stream(ref.session(), ref.name());

    redis.command("XDEL", key, positions.get(2).toString());
    assertThat(payloads(log.read(ref, Position.START, 10))).containsExactly("1", "2");
    ReadResult.Gap hole = new ReadResult.Gap(positions.get(3));
    assertThat(log.read(ref, positions.get(1), 10)).isEqualTo(hole);
    Position goOnAfter = hole.resumeAfter().orElseThrow();
    assertThat(payloads(log.read(ref, goOnAfter, 10))).containsExactly("4", "5");
    assertThat(payloads(log.read(ref, positions.get(2), 10))).containsExactly("4", "5");

    redis.command("XDEL", key, positions.get(4).toString());
    assertThat(log.read(ref, positions.get(3), 10))
        .isEqualTo(new ReadResult.Gap(null, positions.get(4)));
  }

  @Test
  void shouldReportThatEverythingIsLost() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    Position head = writer.append(numbered(1, 1));
    CountingWatcher watcher = new CountingWatcher();
    log.watch(ref, watcher);

    redis.command("FLUSHALL");

    // The owner's tail may be told once more what its memory holds, which was in the log.
    await().until(() -> log.read(ref, head, 10).equals(new ReadResult.NoSuchStream()));
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
    log.sweep();
    assertThat(log.read(ref, head, 10)).isEqualTo(new ReadResult.NoSuchStream());
  }

  @Test
  void shouldServeALocalTailWithoutRedis() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");

    redis.freeze();
    log.watch(ref, new CountingWatcher());
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
    assertThat(asksRedis).isInstanceOf(StoreUnavailableException.class);
  }

  /** An owner that does not know yet that it was replaced must not hide the new owner's events. */
  @Test
  void shouldShowALocalTailWhatAnotherOwnerWrote() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter zombie = log.open(ref, "1");
    log.watch(ref, new CountingWatcher());
    Position first = zombie.append(numbered(1, 1));
    assertThat(events(log.read(ref, first, 10))).isEmpty();
    String key = Replica.KEYS.session(ref.session());
    String second = first.millis() + "-2";

    redis.command("HSET", key, "o:" + ref.name(), "b f00d", "l:" + ref.name(), second);
    redis.command("XADD", Replica.KEYS.stream(ref.session(), ref.name()), second, "d", "2");

    assertThat(payloads(log.read(ref, first, 10))).containsExactly("2");
  }

  /** Redis refuses a script for want of memory at its first write, so nothing may come before. */
  @Test
  void shouldWriteNothingWhenRedisHasNoMemory() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 1));

    redis.command("CONFIG", "SET", "maxmemory", "1");
    assertThatExceptionOfType(StoreUnavailableException.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
    redis.command("CONFIG", "SET", "maxmemory", "0");
    Position second = writer.append(List.of(last("3")));

    assertThat(second.number()).isEqualTo(2);
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1", "3");
  }

  @Test
  void shouldRecoverItsConnectionByItself() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");

    for (int n = 1; n <= 20; n++) {
      redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      persist(writer, numbered(n, n));
    }

    assertThat(readAll(log, ref, Position.START)).hasSize(20);
  }

  @Test
  void shouldWorkOnAnOlderRedis() {
    RedisFixture redis = closing(RedisFixture.startBundled());
    EventLog a = replica(redis, "a");
    EventLog b = replica(redis, "b");
    StreamWriter writer = a.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    b.watch(ref, watcher);
    writer.append(numbered(1, 3));
    a.markDelivered(ref, new Position(1, 1));
    await().untilAsserted(() -> assertThat(b.deliveredUpTo(ref)).isEqualTo(new Position(1, 1)));
    Position end = writer.append(List.of(last("4")));
    a.markFullyDelivered(ref);

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThat(payloads(readAll(b, ref, Position.START))).containsExactly("1", "2", "3", "4");
    assertThat(b.read(ref, end, 1)).isEqualTo(new ReadResult.EndOfStream());
    b.end(ref.session());
    assertThat(redis.command("DBSIZE")).isEqualTo(":0");
  }
}
