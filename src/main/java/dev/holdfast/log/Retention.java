package dev.holdfast.log;

import java.time.Duration;

/**
 * Retention limits of a log. When a limit is reached, the log purges the oldest events.
 *
 * @param eventTtl how long an event is kept
 * @param completedTtl how long a complete stream is kept after it was delivered to its end
 * @param maxEvents maximum number of events in one stream. A store that trims in steps may keep
 *     some more
 * @param maxStreamBytes maximum number of bytes of the events in one stream. The newest event
 *     stays, however large
 * @param sessionTtl minimum time for which an unused session is kept
 * @param maxSessionBytes maximum number of bytes of the events in one session
 * @param maxStreams maximum number of open streams in one session
 */
public record Retention(
    Duration eventTtl,
    Duration completedTtl,
    int maxEvents,
    long maxStreamBytes,
    Duration sessionTtl,
    long maxSessionBytes,
    int maxStreams) {

  /**
   * @throws IllegalArgumentException when a bound is not positive
   */
  public Retention {
    if (!eventTtl.isPositive() || !completedTtl.isPositive() || !sessionTtl.isPositive()) {
      throw new IllegalArgumentException("a time to live must be positive");
    }
    if (maxEvents < 1 || maxStreams < 1 || maxStreamBytes < 1 || maxSessionBytes < 1) {
      throw new IllegalArgumentException("a limit must be at least one");
    }
  }
}
