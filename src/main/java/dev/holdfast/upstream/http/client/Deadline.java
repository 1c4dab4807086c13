package dev.holdfast.upstream.http.client;

import java.time.Duration;

/**
 * A moment on the monotonic clock, or never.
 *
 * @param nanoTime {@link System#nanoTime} at that moment; ignored if never
 * @param never whether the deadline never passes
 */
public record Deadline(long nanoTime, boolean never) {

  /** A deadline that never passes. */
  public static final Deadline NEVER = new Deadline(0, true);

  /** Upper bound of a duration. {@link System#nanoTime} wraps around much later. */
  private static final Duration LONGEST = Duration.ofDays(365);

  /** The moment after a duration from now. */
  public static Deadline after(Duration duration) {
    Duration counted = duration.compareTo(LONGEST) < 0 ? duration : LONGEST;
    return new Deadline(System.nanoTime() + counted.toNanos(), false);
  }

  /** Like {@link #after}; zero means never. */
  public static Deadline afterUnlessZero(Duration duration) {
    return duration.isZero() ? NEVER : after(duration);
  }

  /** The earlier of two deadlines. */
  public Deadline earlier(Deadline other) {
    return remaining() <= other.remaining() ? this : other;
  }

  /** The nanoseconds left; zero or less when the deadline has passed. */
  public long remaining() {
    return never ? LONGEST.toNanos() : nanoTime - System.nanoTime();
  }

  /** Whether the deadline has passed. */
  public boolean hasPassed() {
    return remaining() <= 0;
  }

  /** The duration, or the time left if that is shorter. */
  public Duration limit(Duration duration) {
    Duration left = Duration.ofNanos(Math.max(0, remaining()));
    return duration.compareTo(left) < 0 ? duration : left;
  }
}
