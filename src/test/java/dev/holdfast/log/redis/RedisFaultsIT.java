package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Redis is frozen or restarted, breaks connections, or is an older version. */
class RedisFaultsIT extends ReplicasFixture {

  @Test
  void shouldFenceAFormerOwner() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter fenced = log.open(ref, "1");
    fenced.append(numbered(1, 1));

    redis.command("HSET", Replica.KEYS.session(ref.key().value()), "o:" + ref.name(), "b f00d");

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> fenced.append(numbered(2, 2)));
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> fenced.append(numbered(2, 2)));
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
    b.watch(ref, Position.START, watcher);

    b.end(ref.key());

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
    assertThat(a.read(ref, Position.START, 1)).isEqualTo(new ReadResult.NoSuchStream());
    await().untilAsserted(() -> assertThat(redis.command("DBSIZE")).isEqualTo(":0"));
  }

  @Test
  void shouldFailInTimeWhileRedisIsFrozenAndWorkAfterwards() {
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

    assertThat(appending).isInstanceOf(LogException.OutcomeUnknown.class);
    assertThat(reading).isInstanceOf(LogException.StoreUnavailable.class);
    assertThat(checking).isInstanceOf(LogException.StoreUnavailable.class);
    assertThat(took).isLessThan(TIMEOUT.multipliedBy(20));
    assertThat(appendWithRetries(writer, batch).number()).isEqualTo(2);
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1", "2");
  }

  @Test
  void shouldReadAheadWithoutWaitingForRedis() {
    RedisFixture redis = closing(RedisFixture.start());
    replica(redis, "a").open(ref, "1").append(numbered(1, 3));
    EventLog other = replica(redis, "b");
    assertThat(payloads(other.read(ref, Position.START, 10))).containsExactly("1", "2", "3");

    redis.freeze();
    Supplier<ReadResult> page = other.readAhead(ref, Position.START, 10, EventLog.PAGE_BYTES);
    redis.thaw();

    assertThat(payloads(page.get())).containsExactly("1", "2", "3");
  }

  @Test
  void shouldRepeatAReadAheadThatFailed() {
    RedisFixture redis = closing(RedisFixture.startDurable());
    replica(redis, "a").open(ref, "1").append(numbered(1, 3));
    EventLog other = replica(redis, "b");

    redis.kill();
    Supplier<ReadResult> page = other.readAhead(ref, Position.START, 2, EventLog.PAGE_BYTES);
    redis.restart();

    await()
        .ignoreExceptionsInstanceOf(LogException.StoreUnavailable.class)
        .untilAsserted(() -> assertThat(payloads(page.get())).containsExactly("1", "2"));
  }

  @Test
  void shouldWorkAfterARestart() {
    RedisFixture redis = closing(RedisFixture.startDurable());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    CountingWatcher watcher = new CountingWatcher();
    log.watch(ref, Position.START, watcher);
    Position first = writer.append(numbered(1, 1));

    redis.kill();
    assertThat(catchThrowable(() -> writer.append(numbered(2, 2))))
        .isInstanceOfAny(LogException.StoreUnavailable.class, LogException.OutcomeUnknown.class);
    int wakes = watcher.wakes();
    redis.restart();

    // The second may be written or not: its caller has not repeated the append.
    Position last = appendWithRetries(writer, numbered(3, 3));
    List<LogEvent> read = readAll(log, ref, Position.START);
    assertThat(payloads(read)).startsWith("1").endsWith("3").doesNotHaveDuplicates();
    assertThat(read.getFirst().position()).isEqualTo(first);
    assertThat(read.getLast().position()).isEqualTo(last);
    await().untilAsserted(() -> assertThat(watcher.wakes()).isGreaterThan(wakes + 1));
  }

  @Test
  void shouldSendItsScriptsAgainWhenRedisForgetsThem() {
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
  void shouldRecoverItsConnectionByItself() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");

    for (int n = 1; n <= 20; n++) {
      redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      appendWithRetries(writer, numbered(n, n));
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
    b.watch(ref, Position.START, watcher);
    writer.append(numbered(1, 3));
    a.markDelivered(ref, new Position(1, 1));
    await().untilAsserted(() -> assertThat(b.deliveredUpTo(ref)).isEqualTo(new Position(1, 1)));
    Position end = writer.append(List.of(last("4")));
    a.markFullyDelivered(ref, false);

    await().untilAsserted(() -> assertThat(watcher.wakes()).isPositive());
    assertThat(payloads(readAll(b, ref, Position.START))).containsExactly("1", "2", "3", "4");
    assertThat(b.read(ref, end, 1)).isEqualTo(new ReadResult.EndOfStream());
    b.end(ref.key());
    await().untilAsserted(() -> assertThat(redis.command("DBSIZE")).isEqualTo(":0"));
  }
}
