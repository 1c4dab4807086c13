package dev.holdfast.era.north;

import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.LogLevels;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A session in which requests of one caller run. Thread-safe.
 *
 * @param isTranslated true if the server speaks a revision with sessions
 * @param isForOneCall true if the session ends with its first request
 * @param until time after which it takes no more requests
 * @param requests number of its requests
 * @param logLevel the least severe level of the log messages that the server was asked to send
 */
record PooledSession(
    SessionId id,
    boolean isTranslated,
    boolean isForOneCall,
    ServerDescription server,
    Instant until,
    AtomicInteger requests,
    AtomicInteger logLevel) {

  /** A session takes no more requests, so that it does not grow for ever. */
  private static final int MAX_REQUESTS = 10_000;

  /** A session that has just been opened. */
  PooledSession(
      SessionId id,
      boolean isTranslated,
      boolean isForOneCall,
      ServerDescription server,
      Instant until) {
    this(
        id,
        isTranslated,
        isForOneCall,
        server,
        until,
        new AtomicInteger(),
        new AtomicInteger(Integer.MAX_VALUE));
  }

  /** Counts a request; returns false if the session takes no more. */
  boolean take(Instant now) {
    return now.isBefore(until) && requests.incrementAndGet() <= MAX_REQUESTS;
  }

  /** Returns true if the server must be asked for less severe log messages. */
  boolean needsLevel(String level) {
    int wanted = LogLevels.severity(level);
    return isTranslated
        && server.has("logging")
        && logLevel.getAndUpdate(set -> Math.min(set, wanted)) > wanted;
  }
}
