package dev.holdfast.upstream.http;

import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A moment on the monotonic clock, or never.
 *
 * @param key the configuration key of the duration until then; null for none
 */
record Deadline(long nanoTime, boolean never, @Nullable String key) {

  static final Deadline NEVER = new Deadline(0, true, null);

  /** Upper bound of a duration. {@link System#nanoTime} wraps around much later. */
  private static final Duration LONGEST = Duration.ofDays(365);

  static Deadline after(Duration duration) {
    Duration counted = duration.compareTo(LONGEST) < 0 ? duration : LONGEST;
    return new Deadline(System.nanoTime() + counted.toNanos(), false, null);
  }

  /** The end of the wait until a server starts to answer a request. */
  static Deadline ofFirstByte(Duration duration) {
    return new Deadline(after(duration).nanoTime, false, UpstreamException.TimedOut.FIRST_BYTE);
  }

  /** The end of the silence of a call; zero means never. */
  static Deadline ofSilence(Duration duration) {
    Deadline end = afterUnlessZero(duration);
    return new Deadline(end.nanoTime, end.never, UpstreamException.TimedOut.IDLE);
  }

  /** Like {@link #after}; zero means never. */
  static Deadline afterUnlessZero(Duration duration) {
    return duration.isZero() ? NEVER : after(duration);
  }

  Deadline earlier(Deadline other) {
    return remaining() <= other.remaining() ? this : other;
  }

  /** The nanoseconds left; zero or less when the deadline has passed. */
  long remaining() {
    return never ? LONGEST.toNanos() : nanoTime - System.nanoTime();
  }

  /** The time left; zero when the deadline has passed. */
  Duration left() {
    return Duration.ofNanos(Math.max(0, remaining()));
  }

  boolean hasPassed() {
    return remaining() <= 0;
  }

  /** The duration, or the time left if that is shorter. */
  Duration limit(Duration duration) {
    Duration left = left();
    return duration.compareTo(left) < 0 ? duration : left;
  }
}
