package dev.holdfast.retry;

import java.time.Duration;

/**
 * How long to wait before something is tried again: longer each time, up to a bound.
 *
 * @param delay the wait before the next try
 * @param longest the bound
 */
public record Backoff(Duration delay, Duration longest) {

  /** For a store that is away: it is needed by everyone, and often back at once. */
  public static final Backoff STORE = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1));

  /** For a server that is away: each session asks for itself. */
  public static final Backoff UPSTREAM =
      new Backoff(Duration.ofMillis(500), Duration.ofSeconds(30));

  /** The wait after this one. */
  public Backoff next() {
    Duration doubled = delay.multipliedBy(2);
    return new Backoff(doubled.compareTo(longest) < 0 ? doubled : longest, longest);
  }
}
