package dev.holdfast.upstream.stdio;

import java.util.function.LongSupplier;

/** Limits the lines that one process may log: a burst, then a rate. For one thread. */
final class LogRateLimit {

  static final int BURST = 100;
  private static final int PER_SECOND = 20;
  private static final double NANOS_PER_LINE = 1e9 / PER_SECOND;

  private final LongSupplier nanoTime;
  private double allowed = BURST;
  private long last;
  private long dropped;

  /**
   * Allows a whole burst.
   *
   * @param nanoTime the monotonic clock
   */
  LogRateLimit(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.last = nanoTime.getAsLong();
  }

  /** Returns whether a line may be logged now. Counts the line if not. */
  boolean admits() {
    long now = nanoTime.getAsLong();
    allowed = Math.min(BURST, allowed + (now - last) / NANOS_PER_LINE);
    last = now;
    if (allowed < 1) {
      dropped++;
      return false;
    }
    allowed--;
    return true;
  }

  /** Returns the number of refused lines since the last call. */
  long dropped() {
    long since = dropped;
    dropped = 0;
    return since;
  }
}
