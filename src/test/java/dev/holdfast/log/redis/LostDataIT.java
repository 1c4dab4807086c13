package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.RedisFixture;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Redis has lost events, streams or everything, or cannot take more. */
class LostDataIT extends ReplicasFixture {

  @Test
  void shouldReportALostStream() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    Position first = writer.append(numbered(1, 1));
    Position third = writer.append(numbered(2, 3));

    redis.command("DEL", Replica.KEYS.stream(ref.key().value(), ref.name()));

    assertThat(log.read(ref, Position.START, 10)).isEqualTo(new ReadResult.Gap(null, third));
    assertThat(log.read(ref, first, 10)).isEqualTo(new ReadResult.Gap(null, third));
    assertThat(events(log.read(ref, third, 10))).isEmpty();
    Position fourth = writer.append(numbered(4, 4));
    assertThat(log.read(ref, first, 10)).isEqualTo(new ReadResult.Gap(fourth));
    assertThat(payloads(log.read(ref, third, 10))).containsExactly("4");
  }

  /** A primary that fails may lose the newest writes. */
  @Test
  void shouldReportLostEventsInTheMiddleAndAtTheEnd() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    List<Position> positions = new ArrayList<>();
    for (int n = 1; n <= 5; n++) {
      positions.add(writer.append(numbered(n, n)));
    }
    String key = Replica.KEYS.stream(ref.key().value(), ref.name());

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
    RedisEventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    Position head = writer.append(numbered(1, 1));
    CountingWatcher watcher = new CountingWatcher();
    log.watch(ref, Position.START, watcher);

    redis.command("FLUSHALL");

    // The local tail may get the recent events in memory once more. They were in the log.
    await().until(() -> log.read(ref, head, 10).equals(new ReadResult.NoSuchStream()));
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
    log.shared().catchUp(_ -> true);
    assertThat(log.read(ref, head, 10)).isEqualTo(new ReadResult.NoSuchStream());
  }

  /** Sessions would end in the middle of their calls. */
  @Test
  void shouldWarnOfARedisThatDropsData() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    redis.command("CONFIG", "SET", "maxmemory", "100mb");
    try (LoggedLines lines = new LoggedLines(RedisEventLog.class)) {
      log.sweep();
      assertThat(lines.lines()).isEmpty();

      redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      log.sweep();
      log.sweep();

      assertThat(lines.lines())
          .singleElement()
          .asString()
          .contains("Redis may drop sessions and streams in use maxmemory-policy=allkeys-lru");
    }
  }

  /**
   * Redis that is out of memory refuses a script at its first write, so nothing may come before.
   */
  @Test
  void shouldWriteNothingWhenRedisHasNoMemory() {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 1));

    redis.command("CONFIG", "SET", "maxmemory", "1");
    assertThatExceptionOfType(LogException.StoreUnavailable.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
    redis.command("CONFIG", "SET", "maxmemory", "0");
    Position second = writer.append(List.of(last("3")));

    assertThat(second.number()).isEqualTo(2);
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1", "3");
  }
}
