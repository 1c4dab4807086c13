package dev.holdfast.log.redis.write;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.Replica;
import dev.holdfast.log.redis.script.StreamEntries;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.redis.RedisException;
import dev.holdfast.testing.RedisFixture;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Batches that arrive in Redis after an outage, in whatever order. */
class AppendScriptIT {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Retention RETENTION = LogTesting.retention(HOUR, HOUR, 100_000, HOUR, 100);
  private static final String OWNER = "a f00d";

  @SuppressWarnings("NullAway.Init")
  private static RedisFixture redis;

  @SuppressWarnings("NullAway.Init")
  private static Replica replica;

  private final StreamRef ref = new StreamRef(new LogKey("s" + UUID.randomUUID()), "a1");
  private final AppendScripts scripts =
      new AppendScripts(replica.client, Replica.KEYS, "a", RETENTION);

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    replica = new Replica("a", redis.url(), RETENTION);
  }

  @AfterAll
  static void stop() {
    replica.close();
    redis.close();
  }

  @BeforeEach
  void open() {
    replica.log.begin(ref.key(), "");
    new StreamScripts(replica.client, Replica.KEYS, "a", RETENTION)
        .open(ref, OWNER, "1", "", null, true);
  }

  private Position append(WriterProgress standing, NewEvent... events) {
    return scripts.append(ref, OWNER, standing, "-", List.of(events)).last();
  }

  /** All entries in Redis, also those after a gap. */
  private List<LogEvent> entries() {
    Request all = Request.cmd(Command.XRANGE).arg(streamKey()).arg("-").arg("+");
    return StreamEntries.of(replica.client.send(all));
  }

  private List<Long> numbers() {
    return entries().stream().map(entry -> entry.position().number()).toList();
  }

  private @Nullable String field(String kind) {
    var value = replica.client.send(Request.cmd(Command.HGET).arg(sessionKey()).arg(kind + ":a1"));
    return value == null ? null : value.toString();
  }

  private String sessionKey() {
    return Replica.KEYS.session(ref.key().value());
  }

  private String streamKey() {
    return Replica.KEYS.stream(ref.key().value(), ref.name());
  }

  private static WriterProgress afterUnlogged(Position last, long stored, int count) {
    return unlogged(new Position(last.millis(), last.number() + count), stored, null);
  }

  private static WriterProgress unlogged(Position last, long stored, @Nullable String upstreamId) {
    return new WriterProgress(last, stored, upstreamId, WriterProgress.Debt.NONE);
  }

  @Test
  void shouldLeaveAGapForUnloggedEvents() {
    Position one = append(WriterProgress.at(Position.START), event("1"));

    Position four = append(afterUnlogged(one, 1, 2), event("4"));

    assertThat(four.number()).isEqualTo(4);
    assertThat(numbers()).containsExactly(1L, 4L);
    assertThat(replica.log.read(ref, one, 10)).isEqualTo(new ReadResult.Gap(four));
  }

  @Test
  void shouldRecordTheEndOfTheStreamWithoutAnEvent() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    Position three = new Position(one.millis(), 3);

    Position told = append(unlogged(three, 1, "up-3"));

    assertThat(told).isEqualTo(three);
    assertThat(replica.log.read(ref, one, 10)).isEqualTo(new ReadResult.Gap(null, three));
    assertThat(replica.log.read(ref, three, 10)).isEqualTo(new ReadResult.Events(List.of()));
    assertThat(field("u")).isEqualTo("3 up-3");
  }

  /** The reply to 2 and 3 was lost and they were delivered unlogged, but Redis had written them. */
  @Test
  void shouldRemoveUnloggedEventsThatWereWritten() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    append(WriterProgress.at(one), event("2"), event("3"));

    Position five = append(afterUnlogged(one, 1, 3), event("5"));
    append(WriterProgress.at(five), event("6"));

    assertThat(numbers()).containsExactly(1L, 5L, 6L);
    assertThat(payloads(entries())).containsExactly("1", "5", "6");
  }

  /** One run reads at most 128 entries, since Redis serves nobody else meanwhile. */
  @Test
  void shouldRemoveManyUnloggedEventsInSteps() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    scripts.append(ref, OWNER, WriterProgress.at(one), "-", numbered(2, 1001));
    long before = runs();

    Position next = append(afterUnlogged(one, 1, 1000), event("1002"));

    // The log reports its streams now and then, which is a run or two.
    assertThat(runs() - before).isBetween(8L, 10L);
    assertThat(next.number()).isEqualTo(1002);
    assertThat(payloads(entries())).containsExactly("1", "1002");
  }

  @Test
  void shouldRemoveManyUnloggedEventsWithoutWaiting() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    scripts.append(ref, OWNER, WriterProgress.at(one), "-", numbered(2, 1001));

    Position next =
        scripts
            .appendLater(ref, OWNER, afterUnlogged(one, 1, 1000), "-", numbered(1002, 1002))
            .toCompletableFuture()
            .join()
            .last();

    assertThat(next.number()).isEqualTo(1002);
    assertThat(payloads(entries())).containsExactly("1", "1002");
  }

  private static long runs() {
    return redis
        .reply("INFO", "commandstats")
        .getFirst()
        .lines()
        .filter(line -> line.startsWith("cmdstat_evalsha"))
        .mapToLong(line -> Long.parseLong(line.replaceFirst(".*:calls=(\\d+),.*", "$1").trim()))
        .sum();
  }

  @Test
  void shouldRemoveUnloggedEventsWithoutAnEvent() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    append(WriterProgress.at(one), event("2"), event("3"));

    WriterProgress told = afterUnlogged(one, 1, 2);
    append(told);
    append(told);

    assertThat(numbers()).containsExactly(1L);
    assertThat(replica.log.read(ref, one, 10)).isEqualTo(new ReadResult.Gap(null, told.last()));
  }

  /** A frozen Redis wakes and executes what its sockets hold, in any order of connections. */
  @Test
  void shouldNotWriteABatchThatWasOvertaken() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    WriterProgress later = afterUnlogged(one, 1, 3);
    Position five = append(later, event("5"));

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> append(WriterProgress.at(one), event("2"), event("3")));
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> append(afterUnlogged(one, 1, 2), event("4")));
    Position again = append(later, event("5"));

    assertThat(again).isEqualTo(five);
    assertThat(numbers()).containsExactly(1L, 5L);
    assertThat(field("l")).isEqualTo(five.toString());
  }

  @Test
  void shouldNotWriteABatchThatTheEndOvertook() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    Position end = append(afterUnlogged(one, 1, 2), last(""));

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> append(WriterProgress.at(one), event("2"), last("3")));
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> append(afterUnlogged(one, 1, 2)));

    assertThat(append(afterUnlogged(one, 1, 2), last(""))).isEqualTo(end);
    assertThat(numbers()).containsExactly(1L, 4L);
  }

  /** The response was written and then delivered unlogged, so readers must find only an end. */
  @Test
  void shouldReplaceAnUnloggedEndThatWasWritten() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    append(WriterProgress.at(one), event("2"), last("3"));
    assertThat(field("o")).isNull();

    append(afterUnlogged(one, 1, 2), last(""));

    assertThat(numbers()).containsExactly(1L, 4L);
    assertThat(payloads(entries())).containsExactly("1", "");
    assertThat(field("o")).isNull();
    assertThat(field("l")).isNull();
  }

  /** As after a failover to a Redis without the newest writes. */
  @Test
  void shouldContinueAfterEventsThatRedisHasLost() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    Position two = append(WriterProgress.at(one), event("2"));
    Position three = append(WriterProgress.at(two), event("3"));
    redis.command("XDEL", streamKey(), two.toString(), three.toString());
    redis.command("HSET", sessionKey(), "l:a1", one.toString());

    Position four = append(WriterProgress.at(three), event("4"));

    assertThat(numbers()).containsExactly(1L, 4L);
    assertThat(replica.log.read(ref, one, 10)).isEqualTo(new ReadResult.Gap(four));
    assertThat(payloads(replica.log.read(ref, three, 10))).containsExactly("4");
  }

  @Test
  void shouldContinueWithoutTheLastPosition() {
    Position three =
        scripts.append(ref, OWNER, WriterProgress.at(Position.START), "-", numbered(1, 3)).last();
    redis.command("HDEL", sessionKey(), "l:a1");

    Position four = append(WriterProgress.at(three), event("4"));

    assertThat(numbers()).containsExactly(1L, 2L, 3L, 4L);
    assertThat(field("l")).isEqualTo(four.toString());
  }

  /** The clock of the Redis that took over may be behind. */
  @Test
  void shouldNotGoBackInTime() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    Position ahead = new Position(one.millis() + 100_000, 2);

    Position three = append(WriterProgress.at(ahead), event("3"));
    Position four = append(WriterProgress.at(three), event("4"));

    assertThat(three).isEqualTo(new Position(ahead.millis(), 3));
    assertThat(four).isEqualTo(new Position(ahead.millis(), 4));
  }

  @Test
  void shouldRefuseAFormerOwner() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    redis.command("HSET", sessionKey(), "o:a1", "b beef");

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> append(afterUnlogged(one, 1, 2), event("4")));
    redis.command("DEL", sessionKey(), streamKey());
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> append(afterUnlogged(one, 1, 2), event("4")));

    assertThat(redis.command("EXISTS", sessionKey(), streamKey())).isEqualTo(":0");
  }

  /**
   * Redis that is out of memory refuses a script at its first write: nothing may be gone by then.
   */
  @Test
  void shouldRemoveNothingWhenRedisHasNoMemory() {
    Position one = append(WriterProgress.at(Position.START), event("1"));
    append(WriterProgress.at(one), event("2"), last("3"));
    WriterProgress unlogged = afterUnlogged(one, 1, 2);

    redis.command("CONFIG", "SET", "maxmemory", "1");
    assertThatExceptionOfType(RedisException.Unavailable.class)
        .isThrownBy(() -> append(unlogged, last("")));
    redis.command("CONFIG", "SET", "maxmemory", "0");
    append(unlogged, last(""));

    assertThat(numbers()).containsExactly(1L, 4L);
  }
}
