package dev.holdfast.log.redis.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.Replica;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.UnreportedStream.Delivery;
import dev.holdfast.log.redis.write.UnreportedStream.Reader;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Scripts touch a limited number of streams and events in one run, since Redis serves nobody else
 * meanwhile. One client with many finished calls once stopped the events of all others for seconds.
 */
class ScriptStepsIT {

  /** The most commands of one run. */
  private static final int MOST_COMMANDS = 2000;

  /** The most streams or events that one run removes. */
  private static final int MOST = 128;

  private static final Duration HOUR = Duration.ofHours(1);
  private static final long ANY = Long.MAX_VALUE / 2;

  @SuppressWarnings("NullAway.Init")
  private static RedisFixture redis;

  @SuppressWarnings("NullAway.Init")
  private static Replica replica;

  private final LogKey session = new LogKey("s" + UUID.randomUUID());
  private final String hash = Replica.KEYS.session(session.value());
  private final String complete = Replica.KEYS.streams(session.value());

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    replica = new Replica("a", redis.url(), LogTesting.keeping(1000, 10));
    replica.log.begin(new LogKey("connects"), ""); // Commands that do not wait need a connection.
  }

  @AfterAll
  static void stop() {
    replica.close();
    redis.close();
  }

  /** Number of streams, events or sessions that one client leaves. */
  int many() {
    return 5000;
  }

  private static AppendScripts scripts(long streamBytes, long sessionBytes) {
    Retention retention = new Retention(HOUR, HOUR, 100_000, streamBytes, HOUR, sessionBytes, 100);
    return new AppendScripts(replica.client, Replica.KEYS, "a", retention);
  }

  private static void evaluate(String script, Object... arguments) {
    List<String> words = new ArrayList<>(List.of("EVAL", script, "0"));
    for (Object argument : arguments) {
      words.add(argument.toString());
    }
    assertThat(redis.command(words.toArray(String[]::new))).doesNotStartWith("-");
  }

  /** Makes complete streams, as if calls had finished. They have 264 bytes each. */
  private void completeStreams(String expiry) {
    evaluate(
        """
        local key = ARGV[1]
        redis.call('HSET', key, 'log', '1')
        for i = 1, ARGV[2] do
          redis.call('XADD', key .. ':e:a' .. i, '1-1', 'd', string.rep('x', 200))
          redis.call('ZADD', key .. ':streams', ARGV[3], 'a' .. i)
          redis.call('ZADD', key .. ':order', i, 'a' .. i)
          redis.call('HSET', key .. ':sizes', 'b:a' .. i, 264, 'w:a' .. i, 200)
        end
        redis.call('HSET', key .. ':sizes', 'b', 264 * ARGV[2], 'd', 264 * ARGV[2])
        return 1
        """,
        hash,
        many(),
        expiry);
  }

  private static long reply(String... command) {
    return Long.parseLong(redis.command(command).substring(1));
  }

  private static long commands() {
    return redis
        .reply("INFO", "commandstats")
        .getFirst()
        .lines()
        .filter(line -> line.startsWith("cmdstat_"))
        .mapToLong(line -> Long.parseLong(line.replaceFirst(".*:calls=(\\d+),.*", "$1").trim()))
        .sum();
  }

  private static <T> T counted(Supplier<T> run) {
    long before = commands();
    T result = run.get();
    assertThat(commands() - before).isBetween(1L, (long) MOST_COMMANDS);
    return result;
  }

  private SessionSize report(AppendScripts scripts, List<UnreportedStream> streams) {
    return counted(() -> scripts.report(session, streams, true).toCompletableFuture().join());
  }

  /** Reports until nothing is left to do. The supplier counts what has to go. */
  private SessionSize reportAll(
      AppendScripts scripts, List<UnreportedStream> streams, Supplier<Long> left) {
    long before = left.get();
    SessionSize size = report(scripts, streams);
    while (size.more()) {
      long now = left.get();
      assertThat(before - now).isBetween(1L, (long) MOST);
      before = now;
      size = report(scripts, streams);
    }
    return size;
  }

  @Test
  void shouldRemoveExpiredStreamsInSteps() {
    completeStreams("1");

    SessionSize size = reportAll(scripts(ANY, ANY), List.of(), () -> reply("ZCARD", complete));

    assertThat(size).isEqualTo(new SessionSize(0, 0, false, ""));
    assertThat(redis.keys()).filteredOn(key -> key.contains(session.value())).hasSize(2);
    assertThat(redis.reply("HKEYS", Replica.KEYS.sizes(session.value())))
        .containsExactlyInAnyOrder("b", "c");
  }

  @Test
  void shouldEndASessionInSteps() {
    completeStreams("9999999999999");
    StreamScripts scripts =
        new StreamScripts(replica.client, Replica.KEYS, "a", LogTesting.keeping(1000, 10));

    counted(() -> {
      scripts.endSession(session);
      return true;
    });

    assertThat(reply("EXISTS", hash, complete, Replica.KEYS.sizes(session.value()))).isZero();
    reportAll(scripts(ANY, ANY), List.of(), () -> reply("ZCARD", hash + ":garbage"));
    assertThat(redis.keys()).noneMatch(key -> key.contains(session.value()));
  }

  /** A session id is used again only by chance, or after Redis has lost data. */
  @Test
  void shouldNotTouchASessionThatBeganAgain() {
    completeStreams("9999999999999");
    new StreamScripts(replica.client, Replica.KEYS, "a", LogTesting.keeping(1000, 10))
        .endSession(session);
    long left = reply("ZCARD", hash + ":garbage");
    replica.log.begin(session, "");

    report(scripts(ANY, ANY), List.of());

    assertThat(reply("ZCARD", hash + ":garbage")).isEqualTo(left).isPositive();
  }

  /** The log itself goes on where a script has stopped. */
  @Test
  void shouldRemoveAllStreamsOfAnEndedSession() {
    completeStreams("9999999999999");

    replica.log.end(session);

    await().until(() -> redis.keys().stream().noneMatch(key -> key.contains(session.value())));
  }

  @Test
  void shouldKeepTheQuotaOfASessionInSteps() {
    completeStreams("9999999999999");
    long quota = 264L * many() / 2;

    SessionSize size = reportAll(scripts(ANY, quota), List.of(), () -> reply("ZCARD", complete));

    assertThat(size.bytes()).isBetween(quota - 264 * MOST, quota);
    assertThat(size.delivered()).isEqualTo(size.bytes());
    assertThat(reply("EXISTS", hash + ":e:a1")).isZero();
    assertThat(reply("EXISTS", hash + ":e:a" + many())).isEqualTo(1);
  }

  @Test
  void shouldKeepTheQuotaOfAStreamInSteps() {
    String stream = hash + ":e:a";
    evaluate(
        """
        redis.call('HSET', ARGV[1], 'log', '1', 'o:a', 'r 1', 'l:a', '1-' .. ARGV[2])
        for i = 1, ARGV[2] do
          redis.call('XADD', ARGV[1] .. ':e:a', '1-' .. i, 'd', string.rep('x', 200))
        end
        local bytes = 264 * ARGV[2]
        return redis.call('HSET', ARGV[1] .. ':sizes', 'b', bytes, 'b:a', bytes, 'w:a', 200)
        """,
        hash,
        many());
    long quota = 264L * many() / 2;

    SessionSize size =
        reportAll(
            scripts(quota, ANY),
            List.of(UnreportedStream.delivered("a", Delivery.NONE)),
            () -> reply("XLEN", stream));

    assertThat(size.bytes()).isBetween(quota / 2, quota);
    assertThat(reply("XLEN", stream)).isBetween(many() / 4L, many() * 3L / 4);
  }

  /** Undelivered calls with notifications: no script measures or reads all of them. */
  @Test
  void shouldPurgeNotificationsInSteps() {
    evaluate(
        """
        local stage = 2 ^ 42
        redis.call('HSET', ARGV[1], 'log', '1')
        for i = 1, ARGV[2] do
          for n = 1, 3 do
            redis.call('XADD', ARGV[1] .. ':e:a' .. i, '1-' .. n, 'd', string.rep('x', 200))
          end
          redis.call('ZADD', ARGV[1] .. ':streams', 9999999999999, 'a' .. i)
          redis.call('ZADD', ARGV[1] .. ':order', string.format('%.0f', stage + i), 'a' .. i)
          redis.call('HSET', ARGV[1] .. ':sizes', 'b:a' .. i, 3 * 264, 'w:a' .. i, 200)
        end
        return redis.call('HSET', ARGV[1] .. ':sizes', 'b', 3 * 264 * ARGV[2])
        """,
        hash, many());
    long quota = 3 * 264L * many() / 2;

    shrinkInSteps(quota);

    assertThat(reply("ZCARD", complete)).isEqualTo(many());
    assertThat(reply("XLEN", hash + ":e:a1")).isEqualTo(1);
    assertThat(reply("XLEN", hash + ":e:a" + many())).isEqualTo(3);
  }

  /** Each step purges something, and no more than its bound. */
  private void shrinkInSteps(long quota) {
    SessionSize size = report(scripts(ANY, quota), List.of());
    while (size.more()) {
      SessionSize next = report(scripts(ANY, quota), List.of());
      assertThat(size.bytes() - next.bytes()).isBetween(1L, 264L * MOST);
      size = next;
    }

    assertThat(size.bytes()).isLessThanOrEqualTo(quota);
  }

  @Test
  void shouldReportManyStreamsInOneStep() {
    replica.log.begin(session, "");
    List<UnreportedStream> streams =
        IntStream.range(0, 250)
            .mapToObj(n ->
                new UnreportedStream(
                    "a" + n, 1 << 21, 100, true, true, Reader.FOLLOWS, Delivery.NONE))
            .toList();

    report(scripts(1000, 1000), streams);
  }

  /** Nothing of the largest sessions may go, because their clients are reading. */
  @Test
  void shouldFindTheSessionToPurgeInOneStep() {
    List<String> keys =
        new RedisKeys(session.value()).allSizes(); // Those of the replica are in use.
    evaluate(
        """
        local sizes = ARGV[1]
        for i = 1, ARGV[2] do
          redis.call('ZADD', sizes, i, 's' .. i)
          redis.call('ZADD', sizes .. ':clients:c', i, 's' .. i)
          redis.call('HSET', sizes .. ':client', 's' .. i, 'c')
        end
        redis.call('SET', sizes .. ':sum', ARGV[2] * (ARGV[2] + 1) / 2)
        redis.call('ZADD', sizes .. ':clients', ARGV[2] * (ARGV[2] + 1) / 2, 'c')
        return redis.call('DEL', sizes .. ':lock')
        """,
        keys.getFirst(),
        many());
    RedisScript script = new RedisScript(replica.client, StreamScripts.class, "record-sizes.lua");
    List<String> skipped = IntStream.range(0, MOST).mapToObj(n -> "s" + (many() - n)).toList();
    List<Object> recorded = new ArrayList<>();
    for (int n = 0; n < 64; n++) {
      recorded.addAll(List.of("new" + n, 10, 5, "d" + n));
    }

    var next =
        counted(() -> script.runForList(keys, "b", 1000, ANY, 60_000, MOST, skipped, recorded));

    assertThat(next.get(0).toString()).startsWith("new");
  }

  /** Nothing of the largest sessions may go, and each is of another client. */
  @Test
  void shouldFindTheClientToPurgeInOneStep() {
    List<String> keys = new RedisKeys(session.value() + "+").allSizes();
    evaluate(
        """
        local sizes = ARGV[1]
        for i = 1, ARGV[2] do
          redis.call('ZADD', sizes, i, 's' .. i)
          redis.call('ZADD', sizes .. ':clients', i, 'c' .. i)
          redis.call('ZADD', sizes .. ':clients:c' .. i, i, 's' .. i)
          redis.call('HSET', sizes .. ':client', 's' .. i, 'c' .. i)
        end
        redis.call('SET', sizes .. ':sum', ARGV[2] * (ARGV[2] + 1) / 2)
        return redis.call('DEL', sizes .. ':lock')
        """,
        keys.getFirst(),
        many());
    RedisScript script = new RedisScript(replica.client, StreamScripts.class, "record-sizes.lua");
    List<String> skipped = IntStream.range(0, MOST).mapToObj(n -> "s" + (many() - n)).toList();

    var next = counted(() -> script.runForList(keys, "b", 1000, ANY, 60_000, MOST, skipped));

    assertThat(next.get(0)).hasToString("s" + (many() - MOST));
  }

  @Test
  void shouldPutAMessageIntoASessionWithManyEndsInOneStep() {
    String ends = Replica.KEYS.ends(session.value());
    evaluate(
        """
        for i = 1, ARGV[2] do
          redis.call('ZADD', ARGV[1], 1, 'a' .. i)
        end
        return 1
        """,
        ends,
        many());
    replica.log.begin(session, "");
    var _ = replica.log.open(new StreamRef(session, "a"), "1");
    try (Replica other = new Replica("b", redis.url(), LogTesting.keeping(1000, 10))) {
      counted(() -> other.log.shared().inbox().put(new StreamRef(session, "a"), new byte[] {1}));
    }

    assertThat(reply("ZCARD", ends)).isBetween(many() - MOST + 1L, many() - 1L);
  }

  /** More open streams than any limit allows. A shared stream keeps their events. */
  private void openStreams() {
    evaluate(
        """
        redis.call('HSET', ARGV[1], 'log', '1', 'o:m', '-', 'r:m', '', 'l:m', '0-0', 'n', ARGV[2] + 1)
        for i = 1, ARGV[2] do
          redis.call('HSET', ARGV[1],
            'o:a' .. i, 'lost f00d', 'r:a' .. i, i, 'l:a' .. i, '0-0', 'i:a' .. i, 'm')
        end
        return 1
        """,
        hash,
        many());
  }

  private StreamScripts streamScripts() {
    return new StreamScripts(replica.client, Replica.KEYS, "a", LogTesting.keeping(1000, 10));
  }

  @Test
  void shouldFollowASharedStreamOfManyInSteps() {
    openStreams();
    StreamRef shared = new StreamRef(session, "m");

    String requests = counted(() -> streamScripts().registerTail(shared, 7, Position.START));
    counted(() -> {
      var _ =
          streamScripts().recordDelivery(shared, new Position(1, 1)).toCompletableFuture().join();
      return true;
    });

    assertThat(requests.split(","))
        .containsExactlyInAnyOrderElementsOf(
            IntStream.rangeClosed(1, many()).mapToObj(Integer::toString).toList());
    assertThat(redis.reply("HMGET", hash, "t:m", "d:m")).containsExactly("a 7", "1-1");
  }

  @Test
  void shouldSendToASessionWithManyOpenStreamsInOneStep() {
    openStreams();
    Inbox inbox = replica.log.shared().inbox();

    assertThat(counted(() -> inbox.putForOthers(session, new byte[] {1}))).isEqualTo(1);
    assertThat(counted(() -> inbox.openCalls(session))).hasSize(many());
    assertThat(counted(() -> catchThrowable(() -> replica.log.openShared(stream("x")))))
        .isInstanceOf(LogException.TooManyStreams.class);
  }

  private StreamRef stream(String name) {
    return new StreamRef(session, name);
  }

  @Test
  void shouldClaimManyStreamsInSteps() {
    openStreams();
    RedisScript script = StreamScripts.load(replica.client, "claim-streams.lua");
    Set<String> claimed = new HashSet<>();
    String cursor = "0";
    do {
      String from = cursor;
      var reply = counted(() -> script.runForList(List.of(hash), "lost", "a cafe", 64, from));
      reply.stream().skip(1).forEach(each -> claimed.add(each.get(0).toString()));
      cursor = reply.getFirst().toString();
    } while (!cursor.equals("0"));

    assertThat(claimed).hasSize(many());
    assertThat(streamScripts().claim(session, "a", "a beef", Set.of())).hasSize(many());
    assertThat(streamScripts().claim(session, "a", "a cafe", claimed)).hasSize(many());
  }

  @Test
  void shouldEndASessionWithManyOpenStreamsInOneStep() {
    openStreams();

    counted(() -> {
      streamScripts().endSession(session);
      return true;
    });

    assertThat(reply("EXISTS", hash)).isZero();
  }

  @Test
  void shouldKeepTheQuotaOfASessionWithManyOpenStreamsInSteps() {
    evaluate(
        """
        redis.call('HSET', ARGV[1], 'log', '1')
        for i = 1, ARGV[2] do
          for n = 1, 3 do
            redis.call('XADD', ARGV[1] .. ':e:a' .. i, '1-' .. n, 'd', string.rep('x', 200))
          end
          redis.call('HSET', ARGV[1], 'o:a' .. i, 'r 1', 'l:a' .. i, '1-3')
          redis.call('HSET', ARGV[1] .. ':sizes', 'b:a' .. i, 3 * 264, 'w:a' .. i, 200)
        end
        return redis.call('HSET', ARGV[1] .. ':sizes', 'b', 3 * 264 * ARGV[2])
        """,
        hash,
        many());
    long quota = 3 * 264L * many() - 264L * 2 * MOST;

    shrinkInSteps(quota);
  }

  /** A limit may have been lowered meanwhile, or a slow client has left. */
  @Test
  void shouldTrimALongStreamInSteps() {
    long now = System.currentTimeMillis();
    StreamRef ref = new StreamRef(session, "a");
    evaluate(
        """
        redis.call('HSET', ARGV[1], 'log', '1', 'o:a', 'a 1', 'l:a', ARGV[3] .. '-' .. ARGV[2])
        for i = 1, ARGV[2] do
          redis.call('XADD', ARGV[1] .. ':e:a', ARGV[3] .. '-' .. i, 'd', 'x')
        end
        return 1
        """,
        hash,
        many(),
        now);
    AppendScripts keepsTen =
        new AppendScripts(
            replica.client, Replica.KEYS, "a", new Retention(HOUR, HOUR, 10, ANY, HOUR, ANY, 100));

    keepsTen.append(
        ref, "a 1", WriterProgress.at(new Position(now, many())), "-", LogTesting.numbered(1, 100));

    assertThat(reply("XLEN", hash + ":e:a")).isEqualTo(many() + 100 - 4096);
  }
}
