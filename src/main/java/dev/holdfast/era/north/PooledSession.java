package dev.holdfast.era.north;

import dev.holdfast.call.SessionId;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/** A session in which requests of one caller run. Thread-safe. */
final class PooledSession {

  /** A session takes no more requests, so that it does not grow for ever. */
  private static final int MAX_REQUESTS = 10_000;

  private final SessionId id;
  private final boolean translated;
  private final boolean forOneCall;
  private final Discovery discovery;
  private final Instant until;
  private final AtomicInteger requests = new AtomicInteger();

  /** Severity of the least severe log messages that the server was asked to send. */
  private final AtomicInteger logLevel = new AtomicInteger(Integer.MAX_VALUE);

  /**
   * Creates a session that is open.
   *
   * @param translated true if the server speaks a revision with sessions
   * @param forOneCall true if the session ends with its first request
   * @param until time after which it takes no more requests
   */
  PooledSession(
      SessionId id, boolean translated, boolean forOneCall, Discovery discovery, Instant until) {
    this.id = id;
    this.translated = translated;
    this.forOneCall = forOneCall;
    this.discovery = discovery;
    this.until = until;
  }

  SessionId id() {
    return id;
  }

  boolean isTranslated() {
    return translated;
  }

  boolean isForOneCall() {
    return forOneCall;
  }

  Discovery discovery() {
    return discovery;
  }

  /** Counts a request; returns false if the session takes no more. */
  boolean take(Instant now) {
    return now.isBefore(until) && requests.incrementAndGet() <= MAX_REQUESTS;
  }

  /** Returns true if the server must be asked for less severe log messages. */
  boolean needsLevel(String level) {
    int wanted = LogLevels.severity(level);
    return translated
        && discovery.has("logging")
        && logLevel.getAndUpdate(set -> Math.min(set, wanted)) > wanted;
  }
}
