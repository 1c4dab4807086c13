package dev.holdfast.log.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.redis.RedisSessionStore;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisMonitor;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jboss.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A log with a million events in 100,000 sessions, of which one has 50,000 streams. Whatever
 * happens to them, no script does more in one run than docs/internals.md says.
 */
@Tag("long")
class LogScaleIT {

  private static final Logger LOG = Logger.getLogger(LogScaleIT.class);

  private static final int SESSIONS = 100_000;
  private static final int EVENTS_PER_SESSION = 10;
  private static final int STREAMS = 50_000;

  /** Bytes of an event of the session with many streams. */
  private static final int LARGE = 1000;

  /** Less than the events have together. The session with many streams can give enough. */
  private static final long MAX_BYTES = 130_000_000;

  /** The most commands of one run, and the most members that one command names. */
  private static final int MOST_COMMANDS = 2000;

  private static final int MOST = 64;

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Retention RETENTION =
      new Retention(HOUR, HOUR, 100_000, 1 << 30, HOUR, 1 << 30, 1000);
  private static final String BIG = "big";
  private static final String OTHER = "other";
  private static final String COMPLETE = Replica.KEYS.streams(BIG);
  private static final List<String> SIZES = Replica.KEYS.allSizes();

  /** Counts the commands of each script. Owned by the thread of the monitor. */
  private static final class Steps {
    private int current;
    private boolean ofLog;
    private volatile int scripts;
    private volatile int most;
    private volatile int mostMembers;

    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
    void accept(String line) {
      if (line.contains(" lua] ")) {
        current += ofLog ? 1 : 0;
        most = Math.max(most, current);
        if (line.contains(" lua] \"UNLINK\"") || line.contains(" lua] \"ZREM\"")) {
          mostMembers = Math.max(mostMembers, line.split("\" \"", -1).length - 2);
        }
      } else {
        current = 0;
        ofLog = line.contains("] \"evalsha\"");
        scripts += ofLog ? 1 : 0;
      }
    }
  }

  private static void inParallel(int count, IntConsumer task) {
    Semaphore turns = new Semaphore(256);
    AtomicInteger done = new AtomicInteger();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < count; i++) {
        int number = i;
        turns.acquireUninterruptibly();
        threads.execute(() -> {
          try {
            task.accept(number);
            done.incrementAndGet();
          } finally {
            turns.release();
          }
        });
      }
    }
    assertThat(done).hasValue(count);
  }

  private static void fill(RedisFixture redis, Replica replica) {
    List<NewEvent> small =
        IntStream.rangeClosed(1, EVENTS_PER_SESSION)
            .mapToObj(n -> new NewEvent(new byte[30], null, n == EVENTS_PER_SESSION))
            .toList();
    inParallel(
        SESSIONS,
        n -> {
          replica.log.begin(new LogKey("s" + n), "");
          write(replica, new StreamRef(new LogKey("s" + n), "a"), small);
        });
    replica.log.begin(new LogKey(BIG), "");
    List<NewEvent> large = List.of(new NewEvent(new byte[LARGE], null, true));
    inParallel(STREAMS, n -> write(replica, new StreamRef(new LogKey(BIG), "a" + n), large));
    replica.log.begin(new LogKey(OTHER), "");
    write(replica, new StreamRef(new LogKey(OTHER), "a"), small);
    await()
        .atMost(Duration.ofMinutes(2))
        .until(() ->
            number(redis, "ZCARD", SIZES.getFirst()) == SESSIONS + 2
                && number(redis, "ZCARD", COMPLETE) == STREAMS);
    assertThat(sum(redis)).isGreaterThan(MAX_BYTES);
  }

  private static void write(Replica replica, StreamRef stream, List<NewEvent> events) {
    StreamWriter writer = replica.log.openUnfollowed(stream, null);
    writer.append(events);
    if (stream.hashCode() % 2 == 0) {
      replica.log.markFullyDelivered(stream, true);
    }
  }

  private static long number(RedisFixture redis, String... command) {
    return Long.parseLong(redis.command(command).substring(1));
  }

  private static long sum(RedisFixture redis) {
    return Long.parseLong(redis.reply("GET", SIZES.get(1)).getFirst());
  }

  @Test
  void shouldWorkInStepsHoweverMuchThereIs() {
    Steps steps = new Steps();
    try (RedisFixture redis = RedisFixture.start();
        Replica replica = new Replica("a", redis.url(), RETENTION)) {
      fill(redis, replica);

      try (RedisMonitor _ = RedisMonitor.start(redis, steps::accept)) {
        cleanUp(redis, replica, (_, work) -> work.run());
      }

      assertThat(steps.scripts).isGreaterThan(1000);
      assertThat(steps.most).isBetween(5, MOST_COMMANDS);
      assertThat(steps.mostMembers).isEqualTo(MOST);
    }
  }

  /** The figures are for information, since they depend on the machine. */
  @Test
  void shouldLetOthersAppendMeanwhile() {
    try (RedisFixture redis = RedisFixture.start();
        Replica replica = new Replica("a", redis.url(), RETENTION)) {
      fill(redis, replica);
      Map<String, Long> p99 = new LinkedHashMap<>();
      BiConsumer<String, Runnable> timed =
          (name, work) -> p99.put(name, p99OfAppends(redis, replica, name, work));
      timed.accept("before", () -> await().pollDelay(Duration.ofSeconds(5)).until(() -> true));

      cleanUp(redis, replica, timed);

      assertThat(p99).hasSize(5).allSatisfy((_, micros) -> assertThat(micros).isLessThan(100_000));
    }
  }

  /** Does all kinds of work, each in a run of its own after it was prepared. */
  private static void cleanUp(
      RedisFixture redis, Replica replica, BiConsumer<String, Runnable> run) {
    run.accept("quota", () -> keepTheQuota(redis));
    long streams = expireStreams(redis);
    run.accept("expired streams", () -> removeStreams(redis, replica, streams));
    run.accept("ended sessions", () -> endSessions(redis, replica));
    expireSessions(replica);
    run.accept("expired sessions", () -> removeSessions(redis, replica));
  }

  /** Returns the p99 of the times that appends of another session take, in microseconds. */
  private static long p99OfAppends(
      RedisFixture redis, Replica replica, String name, Runnable work) {
    StreamRef stream = new StreamRef(new LogKey(OTHER), name.replace(" ", ""));
    StreamWriter writer = replica.log.openUnfollowed(stream, null);
    List<Long> micros = new ArrayList<>();
    AtomicBoolean ends = new AtomicBoolean();
    redis.command("CONFIG", "SET", "slowlog-log-slower-than", "1000");
    redis.command("CONFIG", "SET", "slowlog-max-len", "10000");
    redis.command("SLOWLOG", "RESET");
    long begun = System.nanoTime();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      threads.execute(() -> {
        while (!ends.get()) {
          long sent = System.nanoTime();
          writer.append(List.of(LogTesting.event("1")));
          micros.add(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - sent));
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
      });
      work.run();
      ends.set(true);
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    Collections.sort(micros);
    long p99 = micros.get(micros.size() * 99 / 100);
    LOG.infof(
        "%s: %d ms, %d appends of others, p50 %d us, p99 %d us, longest %d us; commands of 1 ms or more: %s",
        name,
        millis,
        micros.size(),
        micros.get(micros.size() / 2),
        p99,
        micros.getLast(),
        longCommands(replica));
    return p99;
  }

  /** Returns the number of long runs and their longest time, for each command and script. */
  private static Map<String, String> longCommands(Replica replica) {
    Response entries =
        Objects.requireNonNull(replica.client.send(Request.cmd(Command.SLOWLOG, "GET", 10_000)));
    Map<String, LongSummaryStatistics> times =
        entries.stream()
            .collect(
                Collectors.groupingBy(
                    LogScaleIT::name, Collectors.summarizingLong(each -> each.get(2).toLong())));
    Map<String, String> found = new TreeMap<>();
    times.forEach((name, each) -> found.put(name, each.getCount() + " up to " + each.getMax()));
    return found;
  }

  private static String name(Response entry) {
    Response words = entry.get(3);
    String command = words.get(0).toString();
    return command.equals("evalsha") ? command + ' ' + words.get(1) : command;
  }

  private static void keepTheQuota(RedisFixture redis) {
    try (Replica _ = new Replica("b", redis.url(), RETENTION, MAX_BYTES)) {
      await().atMost(Duration.ofMinutes(2)).until(() -> sum(redis) <= MAX_BYTES);
    }
    assertThat(number(redis, "ZCARD", COMPLETE)).isBetween(STREAMS / 4L, STREAMS - 1L);
  }

  /** As if the time of half of the streams had passed. Returns how many are left. */
  private static long expireStreams(RedisFixture redis) {
    long before = number(redis, "ZCARD", COMPLETE);
    redis.command(
        "EVAL",
        """
        for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1)) do
          redis.call('ZADD', KEYS[1], 1, name)
        end
        """,
        "1",
        COMPLETE,
        Long.toString(before / 2));
    return before - before / 2;
  }

  private static void removeStreams(RedisFixture redis, Replica replica, long left) {
    replica.log.openUnfollowed(new StreamRef(new LogKey(BIG), "next"), null);
    await().atMost(Duration.ofMinutes(2)).until(() -> number(redis, "ZCARD", COMPLETE) == left);
  }

  private static void endSessions(RedisFixture redis, Replica replica) {
    replica.log.end(new LogKey(BIG));
    inParallel(1000, n -> replica.log.end(new LogKey("s" + n)));
    String garbage = Replica.KEYS.session(BIG) + ":garbage";
    await()
        .atMost(Duration.ofMinutes(2))
        .until(() -> number(redis, "EXISTS", garbage, Replica.KEYS.session(BIG)) == 0);
    await().until(() -> number(redis, "ZCARD", SIZES.getFirst()) == SESSIONS - 1000 + 1);
  }

  /** The index of a gateway that was away while all of its sessions expired. */
  private static void expireSessions(Replica replica) {
    List<Request> additions =
        IntStream.range(0, SESSIONS)
            .mapToObj(n ->
                Request.cmd(Command.ZADD, Replica.KEYS.sessions(), 1, SessionId.random().value()))
            .toList();
    replica.client.sendMany(additions);
  }

  private static void removeSessions(RedisFixture redis, Replica replica) {
    SessionLimits limits = new SessionLimits(SESSIONS, SESSIONS, Map.of());
    RedisSessionStore store =
        new RedisSessionStore(replica.client, Replica.KEYS, HOUR, HOUR, () -> limits);
    for (int n = 0; n < 20; n++) {
      assertThat(store.endExpired(100)).isEmpty();
    }
    assertThat(number(redis, "ZCARD", Replica.KEYS.sessions())).isEqualTo(SESSIONS - 2000);
  }
}
