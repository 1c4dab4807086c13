package dev.holdfast.upstream.http.client;

import java.time.Duration;

/**
 * A moment on the monotonic clock, or none.
 *
 * @param nanoTime the value of {@link System#nanoTime} at that moment; without meaning for {@link
 *     #NEVER}
 * @param never whether it does not come
 */
public record Deadline(long nanoTime, boolean never) {

  public static final Deadline NEVER = new Deadline(0, true);

  /** The longest time that is counted; far below where {@link System#nanoTime} wraps around. */
  private static final Duration LONGEST = Duration.ofDays(365);

  public static Deadline after(Duration duration) {
    Duration counted = duration.compareTo(LONGEST) < 0 ? duration : LONGEST;
    return new Deadline(System.nanoTime() + counted.toNanos(), false);
  }

  /** As {@link #after}, but zero stands for never. */
  public static Deadline afterUnlessZero(Duration duration) {
    return duration.isZero() ? NEVER : after(duration);
  }

  public Deadline earlier(Deadline other) {
    return remaining() <= other.remaining() ? this : other;
  }

  /** The nanoseconds that are left, not positive when it has passed. */
  public long remaining() {
    return never ? LONGEST.toNanos() : nanoTime - System.nanoTime();
  }

  public boolean hasPassed() {
    return remaining() <= 0;
  }

  /** The given time, cut short where the deadline comes first. */
  public Duration limit(Duration duration) {
    Duration left = Duration.ofNanos(Math.max(0, remaining()));
    return duration.compareTo(left) < 0 ? duration : left;
  }
}
