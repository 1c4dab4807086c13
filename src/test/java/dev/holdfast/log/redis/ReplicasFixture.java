package dev.holdfast.log.redis;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;

/** For tests with several replicas in one session. Closes after each test what it has opened. */
public abstract class ReplicasFixture {

  /** How long a replica waits for a reply. */
  protected static final Duration TIMEOUT = Duration.ofSeconds(1);

  /** The same for replicas that are started from now on. */
  protected Duration timeout = TIMEOUT;

  private static final Duration HOUR = Duration.ofHours(1);
  private static final Retention RETENTION = LogTesting.retention(HOUR, HOUR, 100_000, HOUR, 1000);
  private static final Duration RETRY_AFTER = Duration.ofMillis(1);

  /** The session. */
  protected final LogKey session = new LogKey("s" + UUID.randomUUID());

  /** A stream of the session. */
  protected final StreamRef ref = new StreamRef(session, "a1");

  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable closeable : opened.reversed()) {
      closeable.close();
    }
  }

  /** Closes something after the test. */
  protected <T extends AutoCloseable> T closing(T closeable) {
    opened.add(closeable);
    return closeable;
  }

  /** A proxy of Redis that can lose replies and connections. */
  protected RedisProxy proxy(RedisFixture redis) {
    return closing(new RedisProxy(redis.port()));
  }

  /** Starts a replica that knows the session. */
  protected RedisEventLog replica(RedisFixture redis, String name) {
    return replica(redis, name, redis.url(), redis.url());
  }

  /**
   * Starts a replica that knows the session.
   *
   * @param commands where it sends commands
   * @param channel where it listens to its channel
   */
  protected RedisEventLog replica(
      RedisFixture redis, String name, String commands, String channel) {
    Replica replica =
        closing(new Replica(name, commands, channel, redis.url(), timeout, RETENTION));
    replica.log.begin(session, "");
    return replica.log;
  }

  /** Repeats an append until the log has the events. */
  protected static Position appendWithRetries(StreamWriter writer, List<NewEvent> events) {
    while (true) {
      try {
        return writer.append(events);
      } catch (LogException.OutcomeUnknown | LogException.StoreUnavailable again) {
        LockSupport.parkNanos(RETRY_AFTER.toNanos());
      }
    }
  }
}
