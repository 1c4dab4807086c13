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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
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

  private static final int MOST = 128;

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

  private static void fill(Replica replica) {
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
  void shouldWorkInStepsHoweverMuchThereIs() throws InterruptedException {
    Steps steps = new Steps();
    try (RedisFixture redis = RedisFixture.start();
        Replica replica = new Replica("a", redis.url(), RETENTION)) {
      redis.command("CONFIG", "SET", "slowlog-log-slower-than", "5000");
      redis.command("CONFIG", "SET", "slowlog-max-len", "10000");
      fill(replica);
      await()
          .atMost(Duration.ofMinutes(2))
          .until(() ->
              number(redis, "ZCARD", SIZES.getFirst()) == SESSIONS + 1
                  && number(redis, "ZCARD", COMPLETE) == STREAMS);
      assertThat(sum(redis)).isGreaterThan(MAX_BYTES);
      replica.log.begin(new LogKey(OTHER), "");
      long before =
          p99OfAppends(
              replica, "before", () -> LockSupport.parkNanos(Duration.ofSeconds(5).toNanos()));

      long meanwhile =
          p99OfAppends(
              replica,
              "meanwhile",
              () -> {
                try (RedisMonitor _ = RedisMonitor.start(redis, steps::accept)) {
                  keepTheQuota(redis);
                  expireStreams(redis, replica);
                  endSessions(redis, replica);
                  expireSessions(redis, replica);
                }
              });

      logLongest(replica);
      LOG.infof("p99 of appends of others: %d us before, %d us meanwhile", before, meanwhile);
      assertThat(steps.scripts).isGreaterThan(1000);
      assertThat(steps.most).isBetween(5, MOST_COMMANDS);
      assertThat(steps.mostMembers).isEqualTo(MOST);
    }
  }

  /** Returns the p99 of the times that appends of another session take, in microseconds. */
  private static long p99OfAppends(Replica replica, String name, Runnable work)
      throws InterruptedException {
    StreamRef stream = new StreamRef(new LogKey(OTHER), name);
    StreamWriter writer = replica.log.openUnfollowed(stream, null);
    List<Long> micros = new ArrayList<>();
    AtomicBoolean ends = new AtomicBoolean();
    Thread appends =
        Thread.ofVirtual()
            .start(() -> {
              while (!ends.get()) {
                long begun = System.nanoTime();
                writer.append(List.of(LogTesting.event("1")));
                micros.add(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begun));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
              }
            });
    work.run();
    ends.set(true);
    appends.join();
    Collections.sort(micros);
    return micros.get(micros.size() * 99 / 100);
  }

  private static void keepTheQuota(RedisFixture redis) {
    try (Replica _ = new Replica("b", redis.url(), RETENTION, MAX_BYTES)) {
      await().atMost(Duration.ofMinutes(2)).until(() -> sum(redis) <= MAX_BYTES);
    }
    assertThat(number(redis, "ZCARD", COMPLETE)).isBetween(STREAMS / 4L, STREAMS - 1L);
  }

  /** As if the time of half of the streams had passed. */
  private static void expireStreams(RedisFixture redis, Replica replica) {
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
    replica.log.openUnfollowed(new StreamRef(new LogKey(BIG), "next"), null);
    await()
        .atMost(Duration.ofMinutes(2))
        .until(() -> number(redis, "ZCARD", COMPLETE) == before - before / 2);
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
  private static void expireSessions(RedisFixture redis, Replica replica) {
    String index = Replica.KEYS.sessions();
    List<Request> additions =
        IntStream.range(0, SESSIONS)
            .mapToObj(n -> Request.cmd(Command.ZADD, index, 1, SessionId.random().value()))
            .toList();
    replica.client.sendMany(additions);
    SessionLimits limits = new SessionLimits(SESSIONS, SESSIONS, Map.of());
    RedisSessionStore store =
        new RedisSessionStore(replica.client, Replica.KEYS, HOUR, HOUR, () -> limits);
    for (int n = 0; n < 20; n++) {
      assertThat(store.endExpired(100)).isEmpty();
    }
    assertThat(number(redis, "ZCARD", index)).isEqualTo(SESSIONS - 2000);
  }

  /** For information: times depend on the machine. */
  private static void logLongest(Replica replica) {
    Response entries =
        Objects.requireNonNull(replica.client.send(Request.cmd(Command.SLOWLOG, "GET", 10_000)));
    List<String> longest =
        entries.stream()
            .sorted(Comparator.comparingLong(LogScaleIT::micros).reversed())
            .limit(5)
            .map(each -> micros(each) + " us " + each.get(3).get(0) + ' ' + each.get(3).get(1))
            .toList();
    LOG.infof("commands of 5 ms or more: %d, the longest: %s", entries.size(), longest);
  }

  private static long micros(Response entry) {
    return Long.parseLong(entry.get(2).toString());
  }
}
