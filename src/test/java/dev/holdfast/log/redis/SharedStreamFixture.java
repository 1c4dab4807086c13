package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;

import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** For tests of shared streams: two replicas, and a session with a shared stream. */
public abstract class SharedStreamFixture {

  private static final Duration HOUR = Duration.ofHours(1);

  /** What the replicas keep. */
  protected static final Retention RETENTION = LogTesting.retention(HOUR, HOUR, 100_000, HOUR, 100);

  @SuppressWarnings("NullAway.Init")
  private static RedisFixture redis;

  /** One replica. */
  @SuppressWarnings("NullAway.Init")
  protected static Replica a;

  /** The other replica. */
  @SuppressWarnings("NullAway.Init")
  protected static Replica b;

  /** The session. */
  protected final LogKey session = new LogKey("s" + UUID.randomUUID());

  /** Keeps the events of the other streams. */
  protected final StreamRef shared = new StreamRef(session, "m");

  /** The name of a stream that the shared one may keep. */
  protected final StreamRef ref = new StreamRef(session, "a1");

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    a = new Replica("a", redis.url(), RETENTION);
    b = new Replica("b", redis.url(), RETENTION);
  }

  @AfterAll
  static void stop() {
    b.close();
    a.close();
    redis.close();
  }

  @BeforeEach
  void open() {
    a.log.begin(session, "");
    a.log.openShared(shared);
  }

  /** The payloads of all events in the shared stream. */
  protected List<String> readShared() {
    return payloads(readAll(b.log, shared, Position.START));
  }
}
