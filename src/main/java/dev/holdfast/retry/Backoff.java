package dev.holdfast.retry;

import java.time.Duration;

/**
 * When to retry, and when to give up. Immutable: {@link #delay()} is the wait before the next
 * retry, and {@link #next()} is the policy that holds after it. Delays double up to a bound.
 *
 * @param first delay before the first retry
 * @param longest upper bound of a delay
 * @param limit number of retries in a row after which to give up
 * @param retries number of retries since the last success
 */
public record Backoff(Duration first, Duration longest, int limit, int retries) {

  /** For an unavailable store: all streams need it, and it is often back at once. */
  public static final Backoff STORE = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1));

  /** For an unavailable server: each session retries by itself. */
  public static final Backoff UPSTREAM =
      new Backoff(Duration.ofMillis(500), Duration.ofSeconds(30));

  private static final int MAX_DOUBLINGS = 16;

  /** A policy that never gives up. */
  public Backoff(Duration first, Duration longest) {
    this(first, longest, Integer.MAX_VALUE, 0);
  }

  /** The wait before the next retry. */
  public Duration delay() {
    return delay(Duration.ZERO);
  }

  /** As {@link #delay()}, for a peer that asks for a longer first delay. */
  public Duration delay(Duration asked) {
    Duration base = asked.compareTo(first) > 0 ? asked : first;
    Duration doubled = base.multipliedBy(1L << Math.min(retries, MAX_DOUBLINGS));
    return doubled.compareTo(longest) < 0 ? doubled : longest;
  }

  /** The policy after one more retry. */
  public Backoff next() {
    return new Backoff(first, longest, limit, Math.min(retries, Integer.MAX_VALUE - 1) + 1);
  }

  /** The policy after a success. */
  public Backoff reset() {
    return retries == 0 ? this : new Backoff(first, longest, limit, 0);
  }

  /** Returns true if the caller gives up instead of retrying. */
  public boolean isExhausted() {
    return retries >= limit;
  }
}
