package dev.holdfast.log;

import java.time.Duration;

/**
 * How long and how much a log keeps.
 *
 * @param eventTtl how long an event is kept
 * @param completedTtl how long a complete stream is kept after it was delivered to its end
 * @param maxEvents most events of one stream; the oldest are purged, possibly a trimming step of
 *     the store late
 * @param sessionTtl how long an unused session is kept at least
 * @param maxStreams most open streams of one session
 */
public record Retention(
    Duration eventTtl, Duration completedTtl, int maxEvents, Duration sessionTtl, int maxStreams) {

  /**
   * @throws IllegalArgumentException when a bound is not positive
   */
  public Retention {
    if (!eventTtl.isPositive() || !completedTtl.isPositive() || !sessionTtl.isPositive()) {
      throw new IllegalArgumentException("a time to live must be positive");
    }
    if (maxEvents < 1 || maxStreams < 1) {
      throw new IllegalArgumentException("a limit must be at least one");
    }
  }
}
