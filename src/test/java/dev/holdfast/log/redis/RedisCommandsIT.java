package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.keeping;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.retention;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the log does in Redis now and then, so that calls and events need few commands. */
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class RedisCommandsIT {

  private static final Duration HOUR = Duration.ofHours(1);

  /** More than half a window, so that the reader records its position, too. */
  private static final int FOLLOWED = 1200;

  /** The script with four commands, a wake-up, and a read. */
  private static final Map<String, Integer> PER_FOLLOWED_EVENT =
      Map.of(
          "evalsha", 1, "hmget", 2, "time", 1, "xadd", 1, "hset", 1, "publish", 1, "hget", 1,
          "xrange", 1, "exists", 1);

  private static final Duration BRIEF = Duration.ofMillis(200);

  @AutoClose private static RedisFixture redis;

  private final LogKey session = new LogKey("s" + UUID.randomUUID());
  private final String sizes = Replica.KEYS.sizes(session.value());
  private final String streams = Replica.KEYS.streams(session.value());

  @SuppressWarnings("NullAway.Init")
  private Replica replica;

  private void start(Retention retention) {
    replica = new Replica("r", redis.url(), retention);
    replica.log.begin(session, "");
  }

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
  }

  @AfterEach
  void stop() {
    replica.close();
  }

  private StreamWriter open(String name) {
    return replica.log.open(new StreamRef(session, name), "1");
  }

  private void call(String name) {
    open(name).append(List.of(last("1")));
    replica.log.markFullyDelivered(new StreamRef(session, name), false);
  }

  /**
   * The commands besides wake-ups since then, for each of so many calls or events. Rounds the
   * number of each command, since the reports of a slow machine are many.
   */
  private static long commandsSince(Map<String, Long> before, int count) {
    return calls().entrySet().stream()
        .filter(each -> !each.getKey().equals("publish"))
        .mapToLong(each ->
            Math.round((each.getValue() - before.getOrDefault(each.getKey(), 0L)) / (double) count))
        .sum();
  }

  private static long reply(String... command) {
    return Long.parseLong(redis.command(command).substring(1));
  }

  /** The commands of a script cost Redis more than storing the event does. */
  @Test
  void shouldNeedFewCommandsPerCall() {
    start(keeping(1000, 10));
    call("first");
    Map<String, Long> before = calls();

    for (int n = 0; n < 200; n++) {
      call("a" + n);
    }

    assertThat(commandsSince(before, 200)).isEqualTo(10);
  }

  @Test
  void shouldNeedFewCommandsPerEvent() {
    start(keeping(1000, 10));
    StreamWriter writer = open("a");
    writer.append(List.of(event("1")));
    Map<String, Long> before = calls();

    for (int n = 0; n < 200; n++) {
      writer.append(List.of(event("2")));
    }

    assertThat(commandsSince(before, 200)).isEqualTo(5);
  }

  /** Counts each command, since the reports of a slow machine are many. */
  @Test
  void shouldNeedFewCommandsPerEventOfAReaderOnAnotherReplica() throws Exception {
    start(keeping(10_000, 10));
    StreamRef stream = new StreamRef(session, "a");
    StreamWriter writer = open("a");
    try (Replica other = new Replica("o", redis.url(), keeping(10_000, 10))) {
      Follower follower = new Follower(other, stream);
      writer.append(List.of(event("1")));
      follower.read();
      Map<String, Long> before = calls();

      for (int n = 0; n < FOLLOWED; n++) {
        writer.append(List.of(event("2")));
        follower.read();
      }

      assertThat(follower.cursor.number()).isEqualTo(FOLLOWED + 1);
      calls()
          .forEach((command, calls) -> {
            int documented = PER_FOLLOWED_EVENT.getOrDefault(command, 0);
            assertThat((calls - before.getOrDefault(command, 0L)) / (double) FOLLOWED)
                .as(command)
                .isBetween((double) documented, documented + 0.9);
          });
    }
  }

  /** A tail that reads an event as soon as it hears of it, and so keeps up. */
  private static final class Follower implements EventLog.Watcher {
    private final Semaphore woken = new Semaphore(0);
    private final EventLog log;
    private final StreamRef stream;
    private final EventLog.Watch watch;
    private Position cursor = Position.START;

    Follower(Replica replica, StreamRef stream) {
      this.log = replica.log;
      this.stream = stream;
      this.watch = log.watch(stream, cursor, this);
    }

    void read() throws InterruptedException {
      Position before = cursor;
      while (cursor.equals(before)) {
        woken.acquire();
        for (LogEvent event : events(log.read(stream, cursor, 128))) {
          cursor = event.position();
          watch.advanced(cursor, event.payload().length);
        }
      }
      woken.drainPermits();
    }

    @Override
    public void wake() {
      woken.release();
    }

    @Override
    public void evicted() {}
  }

  private static Map<String, Long> calls() {
    return redis
        .reply("INFO", "commandstats")
        .getFirst()
        .lines()
        .filter(line -> line.startsWith("cmdstat_"))
        .collect(
            Collectors.toMap(
                line -> line.substring("cmdstat_".length(), line.indexOf(':')),
                line -> Long.valueOf(line.replaceFirst(".*:calls=(\\d+),.*", "$1").trim())));
  }

  /** Redis does not know yet how large its events are. */
  @Test
  void shouldReadAStreamThatWasNotReportedInFewPages() {
    start(keeping(1000, 10));
    StreamRef stream = new StreamRef(session, "a");
    StreamWriter writer = open("a");
    for (int n = 0; n < 100; n++) {
      writer.append(List.of(new NewEvent(new byte[400], null, n == 99)));
    }
    try (Replica other = new Replica("o", redis.url(), keeping(1000, 10))) {
      // As if the report, which comes only once, had not come yet.
      await().until(() -> reply("HDEL", sizes, "w:a") == 1);

      List<LogEvent> ahead =
          events(other.log.readAhead(stream, Position.START, 128, 32 << 10).get());
      List<LogEvent> rest = events(other.log.read(stream, ahead.getLast().position(), 128));

      assertThat(ahead).hasSize(81);
      assertThat(rest).hasSize(19);
    }
  }

  private static List<LogEvent> events(ReadResult page) {
    return ((ReadResult.Events) page).events();
  }

  @Test
  void shouldForgetTheSizesOfExpiredStreams() {
    start(retention(HOUR, BRIEF, 1000, HOUR, 10));
    for (int n = 0; n < 20; n++) {
      call("a" + n);
    }
    open("b").append(List.of(event("1")));

    await().until(() -> reply("EXISTS", Replica.KEYS.stream(session.value(), "a19")) == 0);

    assertThat(redis.reply("ZRANGE", streams, "0", "-1")).isEmpty();
    assertThat(redis.reply("HKEYS", sizes)).containsExactlyInAnyOrder("b", "c", "b:b", "w:b");
    assertThat(redis.reply("HMGET", sizes, "b", "b:b"))
        .satisfies(bytes -> assertThat(bytes.get(0)).isEqualTo(bytes.get(1)));
  }

  /** Nobody may use the session any more, and its bytes count. */
  @Test
  void shouldForgetTheSizesOfStreamsThatExpireUndelivered() {
    start(retention(BRIEF, HOUR, 1000, HOUR, 10));
    open("a").append(List.of(last("1")));
    String all = Replica.KEYS.allSizes().getFirst();
    await().until(() -> redis.reply("ZRANGE", all, "0", "-1").contains(session.value()));

    await().until(() -> !redis.reply("ZRANGE", all, "0", "-1").contains(session.value()));
  }

  /** A quota may remove all complete streams, and with them the set and its time to live. */
  @Test
  void shouldLetEveryKeyExpire() {
    start(new Retention(HOUR, HOUR, 1000, 1 << 20, HOUR, 100_000, 10));
    StreamWriter writer = replica.log.openUnfollowed(new StreamRef(session, "a"), null);
    call("b");
    writer.append(List.of(new NewEvent(new byte[200_000], null, false)));
    assertThat(reply("EXISTS", streams)).isZero();
    writer.append(List.of(event("1")));
    await().until(() -> reply("XLEN", Replica.KEYS.stream(session.value(), "a")) == 1);

    call("c");
    assertThat(reply("PTTL", Replica.KEYS.stream(session.value(), "c"))).isPositive();

    await().until(() -> reply("EXISTS", streams) == 1);
    assertThat(redis.keys())
        .filteredOn(key -> key.contains(session.value()))
        .hasSize(6)
        .allMatch(key -> reply("PTTL", key) > 0);
  }

  /** Keys that expired although they are in use come back with a time to live. */
  @Test
  void shouldLetAStreamExpireAgain() {
    Duration ttl = Duration.ofMillis(700);
    start(retention(ttl, ttl, 1000, HOUR, 10));
    StreamWriter writer = open("a");
    String stream = Replica.KEYS.stream(session.value(), "a");
    writer.append(List.of(event("1")));
    await().until(() -> reply("EXISTS", stream, sizes) == 0);

    writer.append(List.of(event("2")));

    assertThat(reply("PTTL", stream)).isPositive();
    await().until(() -> reply("PTTL", sizes) > 0);
  }

  @Test
  void shouldRetireOnlyCompleteStreams() {
    start(retention(HOUR, BRIEF, 1000, HOUR, 10));
    open("a").append(List.of(event("1")));
    replica.log.markFullyDelivered(new StreamRef(session, "a"), false);
    call("b");

    await().until(() -> reply("EXISTS", Replica.KEYS.stream(session.value(), "b")) == 0);
    assertThat(reply("PTTL", Replica.KEYS.stream(session.value(), "a"))).isGreaterThan(3_000_000);
  }

  /**
   * The replica that ends a session does not know the streams that others have not reported yet.
   */
  @Test
  void shouldRemoveAStreamThatWasReportedAfterItsSessionEnded() {
    start(keeping(1000, 10));
    StreamWriter writer = open("a");
    try (Replica other = new Replica("o", redis.url(), keeping(1000, 10))) {
      writer.append(List.of(last("1")));
      other.log.end(session);
    }

    await().until(() -> redis.keys().stream().noneMatch(key -> key.contains(session.value())));
  }

  @Test
  void shouldExtendTheTimeToLiveOfASessionInWhichAStreamWasOpened() {
    start(keeping(1000, 10));
    String hash = Replica.KEYS.session(session.value());
    redis.command("PEXPIRE", hash, "60000");

    open("a");

    await().until(() -> reply("PTTL", hash) > 60_000);
  }

  /** A replica of an older version opens streams and does not count them. */
  @Test
  void shouldCountTheStreamsOfASessionWithoutACount() {
    start(keeping(1000, 2));
    open("a");
    open("b").append(List.of(last("1")));
    redis.command("HDEL", Replica.KEYS.session(session.value()), "n");

    open("c");

    assertThatExceptionOfType(LogException.TooManyStreams.class).isThrownBy(() -> open("d"));
  }
}
