package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.events;
import static dev.holdfast.log.LogTesting.keeping;
import static dev.holdfast.log.LogTesting.numbered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLogContract;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class RedisEventLogIT extends EventLogContract {

  @AutoClose private static RedisFixture redis;

  private static final List<String> SIZES = Replica.KEYS.allSizes();

  private final List<Replica> replicas = new ArrayList<>();

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
  }

  @AfterEach
  void stopReplicas() {
    replicas.forEach(Replica::close);
  }

  @Override
  protected EventLog create(Retention retention) {
    Replica replica = new Replica("r" + replicas.size(), redis.url(), retention);
    replicas.add(replica);
    return replica.log;
  }

  @Override
  public void pass(Duration time) {
    // Redis has a clock of its own; the tests wait.
  }

  @Override
  public StreamIndex index() {
    Replica replica = replicas.getLast();
    return new RedisStreamIndex(replica.client, Replica.KEYS, () -> Set.of("r0", "r1"));
  }

  /** A replica of an earlier version has opened the stream. */
  @Test
  void shouldTellNothingOfAnEarlierVersion() {
    StreamWriter writer = log.open(ref, "1", "deploy", null);
    assertThat(redis.command("HDEL", Replica.KEYS.session(ref.key().value()), "c:" + ref.name()))
        .isEqualTo(":1");

    assertThat(index().find(ref).orElseThrow().details().opening()).isNull();
    writer.append(List.of(LogTesting.last("end")));
    assertThat(index().find(ref).orElseThrow().details().opening()).isNull();
  }

  /** The fields of a stream go with its end, and what they had is in its last entry. */
  @Test
  void shouldTellOfACallThatAnotherReplicaAdopted() {
    var _ = log.open(ref, "1", "deploy", null);
    Replica other = new Replica("adopter", redis.url(), keeping(100, 10));
    replicas.add(other);

    other
        .log
        .shared()
        .adopt(ref.key(), "r0")
        .getFirst()
        .writer()
        .append(List.of(LogTesting.last("end")));

    StreamIndex.Entry found = index().find(ref).orElseThrow();
    assertThat(found.open()).isFalse();
    assertThat(found.details().opening()).extracting(StreamIndex.Opening::tool).isEqualTo("deploy");
    assertThat(redis.reply("HKEYS", Replica.KEYS.session(ref.key().value())))
        .noneMatch(field -> field.endsWith(":" + ref.name()));
  }

  @Override
  public int trimmingStep() {
    return 100;
  }

  @Test
  void shouldSayWhatMemoryRedisTakes() {
    assertThat(log.depth().events()).isEmpty();
    assertThat(log.depth().bytes().orElseThrow()).isPositive();
  }

  /** A reader that cuts a page after it has fetched all of it has no bound. */
  @Test
  void shouldFetchNoMoreThanAPage() {
    StreamWriter writer = log.open(ref, "1");
    for (int n = 1; n <= 50; n++) {
      writer.append(List.of(new NewEvent(new byte[1 << 20], null, false)));
    }
    long before = sent();

    assertThat(events(log.read(ref, Position.START, 500, 1 << 20))).hasSize(1);

    assertThat(sent() - before).isLessThan(3 << 20);
  }

  /** The bytes that Redis has sent. */
  private static long sent() {
    return redis
        .reply("INFO", "stats")
        .getFirst()
        .lines()
        .filter(line -> line.startsWith("total_net_output_bytes:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
        .findFirst()
        .orElseThrow();
  }

  /** The largest session gives way, and a small one keeps its events. */
  @Test
  void shouldPurgeTheLargestSessionWhileAllHaveTooManyBytes() {
    forgetOtherTests();
    RedisEventLog small = replica("small", 500_000).log;
    StreamRef greedy = new StreamRef(new LogKey("g" + ref.key().value()), "b");
    small.begin(ref.key(), "");
    small.begin(greedy.key(), "");
    small.open(ref, "1").append(List.of(new NewEvent(new byte[100_000], null, true)));
    StreamWriter writer = small.openUnfollowed(greedy, null);
    Position first = writer.append(numbered(1, 1));
    for (int n = 2; n <= 100; n++) {
      writer.append(List.of(new NewEvent(new byte[10_000], null, false)));
    }

    await()
        .untilAsserted(
            () -> assertThat(small.read(greedy, first, 1)).isInstanceOf(ReadResult.Gap.class));
    assertThat(events(small.read(ref, Position.START, 1))).hasSize(1);
    await().untilAsserted(() -> assertThat(sum()).isBetween(100_000L, 500_000L));
    assertThat(small.depth().quotaUsed().orElseThrow()).isBetween(0.2, 1.0);
    small.end(greedy.key());
    small.end(ref.key());
    await()
        .untilAsserted(() ->
            assertThat(redis.reply("ZRANGE", SIZES.getFirst(), "0", "-1"))
                .doesNotContain(greedy.key().value(), ref.key().value()));
  }

  /** A primary that was voted out would else say that events of the new one are gone. */
  @Test
  void shouldNotSayThatEventsAreGoneWhileRedisTakesNoWrites() {
    RedisEventLog any = replica("any", 500_000).log;
    assertThat(any.read(ref, Position.START, 1)).isInstanceOf(ReadResult.NoSuchStream.class);
    redis.command("CONFIG", "SET", "min-replicas-to-write", "1");
    try {
      assertThatExceptionOfType(LogException.StoreUnavailable.class)
          .isThrownBy(() -> any.read(ref, Position.START, 1));
      assertThatExceptionOfType(LogException.StoreUnavailable.class)
          .isThrownBy(() -> any.readAhead(ref, Position.START, 1, 1000).get());
    } finally {
      redis.command("CONFIG", "SET", "min-replicas-to-write", "0");
    }
  }

  private static void forgetOtherTests() {
    redis.command(
        "EVAL",
        "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end",
        "0",
        SIZES.getFirst() + "*");
  }

  private StreamWriter opened(RedisEventLog log, String name, String client) {
    StreamRef stream = new StreamRef(new LogKey(name + ref.key().value()), "a");
    log.begin(stream.key(), client);
    return log.openUnfollowed(stream, null);
  }

  /** Many sessions, each smaller than that of another client, once took its place. */
  @Test
  void shouldPurgeTheClientWithTheMostBytes() {
    forgetOtherTests();
    RedisEventLog small = replica("fair", 500_000).log;
    StreamWriter modest = opened(small, "modest", "key bob");
    modest.append(List.of(new NewEvent(new byte[100_000], null, false)));
    for (int n = 1; n <= 100; n++) {
      opened(small, "greedy" + n, "key {alice}")
          .append(List.of(new NewEvent(new byte[10_000], null, false)));
    }

    await().untilAsserted(() -> assertThat(sum()).isBetween(400_000L, 500_000L));
    assertThat(events(small.read(modest.stream(), Position.START, 1))).hasSize(1);
    assertThat(redis.reply("ZREVRANGE", SIZES.getLast(), "0", "-1"))
        .containsExactly("key {alice}", "key bob");
    for (int n = 1; n <= 100; n++) {
      small.end(new LogKey("greedy" + n + ref.key().value()));
    }
    small.end(modest.stream().key());
    await().untilAsserted(() -> assertThat(redis.command("EXISTS", SIZES.getLast())).endsWith("0"));
    assertThat(redis.keys()).noneMatch(key -> key.contains("{alice}"));
  }

  @Test
  void shouldLimitTheBytesOfAClient() {
    forgetOtherTests();
    RedisEventLog limited =
        replica(new Replica("limited", redis.url(), keeping(1_000_000, 1000), 1 << 30, 200_000))
            .log;
    StreamWriter modest = opened(limited, "modest", "key bob");
    modest.append(List.of(new NewEvent(new byte[150_000], null, false)));
    List<StreamWriter> greedy = new ArrayList<>();
    for (int n = 1; n <= 50; n++) {
      greedy.add(opened(limited, "greedy" + n, "key alice"));
      greedy.getLast().append(List.of(new NewEvent(new byte[10_000], null, false)));
    }

    await().untilAsserted(() -> assertThat(sum()).isBetween(250_000L, 360_000L));
    assertThat(events(limited.read(modest.stream(), Position.START, 1))).hasSize(1);
    assertThat(greedy)
        .anyMatch(
            each -> limited.read(each.stream(), Position.START, 1) instanceof ReadResult.Events)
        .anyMatch(each -> limited.read(each.stream(), Position.START, 1) instanceof ReadResult.Gap);
  }

  /** A client with few bytes loses what it has already before others lose what they have not. */
  @Test
  void shouldPurgeDeliveredStreamsOfAnyClientFirst() {
    forgetOtherTests();
    RedisEventLog small = replica("fair", 500_000).log;
    StreamWriter done = opened(small, "done", "key bob");
    done.append(List.of(new NewEvent(new byte[100_000], null, true)));
    small.markFullyDelivered(done.stream(), true);
    StreamWriter waiting = opened(small, "waiting", "key alice");
    List<NewEvent> event = List.of(new NewEvent(new byte[10_000], null, false));
    for (int n = 1; n <= 45; n++) {
      waiting.append(event);
    }

    await()
        .untilAsserted(() ->
            assertThat(small.read(done.stream(), Position.START, 1))
                .isInstanceOf(ReadResult.Gap.class));
    await().untilAsserted(() -> assertThat(sum()).isBetween(450_000L, 500_000L));
    assertThat(events(small.read(waiting.stream(), Position.START, 1))).hasSize(1);
    assertThat(redis.keys()).noneMatch(key -> key.startsWith(SIZES.getFirst() + ":delivered"));
  }

  /** The largest session cannot give anything: its client is connected and has received nothing. */
  @Test
  void shouldPurgeTheNextSessionIfTheLargestHasNothingToGive() {
    forgetOtherTests();
    RedisEventLog small = replica("fair", 500_000).log;
    StreamRef followed = new StreamRef(new LogKey("followed" + ref.key().value()), "a");
    small.begin(followed.key(), "key alice");
    StreamWriter reading = small.open(followed, "1");
    StreamWriter waiting = opened(small, "waiting", "key alice");
    List<NewEvent> event = List.of(new NewEvent(new byte[10_000], null, false));
    Position first = waiting.append(event);
    for (int n = 1; n <= 40; n++) {
      reading.append(event);
    }
    for (int n = 1; n <= 20; n++) {
      waiting.append(event);
    }

    await()
        .untilAsserted(() ->
            assertThat(small.read(waiting.stream(), first, 1)).isInstanceOf(ReadResult.Gap.class));
    await().untilAsserted(() -> assertThat(sum()).isBetween(410_000L, 500_000L));
    assertThat(LogTesting.readAll(small, followed, Position.START)).hasSize(40);
  }

  /** Replicas of an earlier version keep only the first two keys. */
  @Test
  void shouldPurgeSessionsThatOnlyAnEarlierVersionHasReported() {
    forgetOtherTests();
    StreamWriter large = opened((RedisEventLog) log, "large", "key alice");
    large.append(List.of(new NewEvent(new byte[300_000], null, false)));
    LogKey session = large.stream().key();
    await()
        .until(() -> redis.reply("ZRANGE", SIZES.getFirst(), "0", "-1").contains(session.value()));
    redis.command("DEL", SIZES.get(3), SIZES.get(4), SIZES.get(4) + ":key alice");
    RedisEventLog small = replica("later", 200_000).log;
    StreamWriter modest = opened(small, "modest", "key bob");

    modest.append(List.of(new NewEvent(new byte[10_000], null, false)));

    await().untilAsserted(() -> assertThat(sum()).isBetween(10_000L, 200_000L));
    assertThat(events(small.read(modest.stream(), Position.START, 1))).hasSize(1);
  }

  /** A session that is written only once must not be missing for good. */
  @Test
  void shouldRepeatAReportOfSizesThatFailed() {
    redis.command("DEL", SIZES.getFirst());
    redis.command("SET", SIZES.getFirst(), "of another type");
    redis.command("CONFIG", "RESETSTAT");
    log.open(ref, "1").append(numbered(1, 1));
    await()
        .untilAsserted(
            () -> assertThat(redis.reply("INFO", "errorstats").getFirst()).contains("WRONGTYPE"));

    redis.command("DEL", SIZES.getFirst());

    await()
        .untilAsserted(() ->
            assertThat(redis.reply("ZRANGE", SIZES.getFirst(), "0", "-1"))
                .contains(ref.key().value()));
  }

  private static long sum() {
    String sum = redis.reply("GET", SIZES.get(1)).getFirst();
    return sum.isEmpty() ? 0 : Long.parseLong(sum);
  }

  /** A client chooses the size of some fields, so no script reads them without need. */
  @Test
  void shouldNeverReadAWholeSession() {
    log.open(ref, "1");
    StreamRef shared = new StreamRef(ref.key(), "m");
    log.openShared(shared);
    RedisEventLog other = replica("other", Replica.MAX_BYTES).log;

    assertThat(other.shared().inbox().openCalls(ref.key())).hasSize(1);
    assertThat(other.shared().inbox().putForOthers(ref.key(), new byte[1])).isEqualTo(1);
    assertThat(other.shared().adopt(ref.key(), "r0")).hasSize(1);
    other.end(ref.key());

    assertThat(redis.reply("INFO", "commandstats").getFirst()).doesNotContain("cmdstat_hgetall");
  }

  private Replica replica(String name, long maxBytes) {
    return replica(new Replica(name, redis.url(), keeping(1_000_000, 1000), maxBytes));
  }

  private Replica replica(Replica replica) {
    replicas.add(replica);
    return replica;
  }
}
