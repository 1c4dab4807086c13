package dev.holdfast.relay;

import java.time.Duration;

/**
 * How long to wait before a store is tried again: longer each time, up to a bound.
 *
 * @param delay the wait before the next try
 */
record Backoff(Duration delay) {

  static final Backoff START = new Backoff(Duration.ofMillis(20));

  private static final Duration LONGEST = Duration.ofSeconds(1);

  /** The wait after this one. */
  Backoff next() {
    Duration doubled = delay.multipliedBy(2);
    return new Backoff(doubled.compareTo(LONGEST) < 0 ? doubled : LONGEST);
  }
}
