package dev.holdfast.log;

import java.time.Duration;

/**
 * How long and how much a log keeps.
 *
 * @param eventTtl how long an event is kept
 * @param completedTtl how long the events of a complete stream are kept once it was delivered to
 *     its end
 * @param maxEvents the most events that one stream keeps; the oldest are purged, those beyond by at
 *     least one and at most a store's trimming step late
 * @param sessionTtl how long a session that nobody used is kept at the least
 * @param maxStreams the most open streams of one session
 */
public record Retention(
    Duration eventTtl, Duration completedTtl, int maxEvents, Duration sessionTtl, int maxStreams) {

  /**
   * @throws IllegalArgumentException when a bound is not positive
   */
  public Retention {
    if (!eventTtl.isPositive() || !completedTtl.isPositive() || !sessionTtl.isPositive()) {
      throw new IllegalArgumentException("a time to live is positive");
    }
    if (maxEvents < 1 || maxStreams < 1) {
      throw new IllegalArgumentException("a limit is at least one");
    }
  }
}
