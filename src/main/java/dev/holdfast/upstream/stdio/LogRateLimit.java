package dev.holdfast.upstream.stdio;

import java.util.function.LongSupplier;

/**
 * How much one process may write into our log: at first a burst, then so many lines in a second.
 * For one thread.
 */
final class LogRateLimit {

  static final int BURST = 100;
  private static final int PER_SECOND = 20;
  private static final double NANOS_PER_LINE = 1e9 / PER_SECOND;

  private final LongSupplier nanoTime;
  private double allowed = BURST;
  private long last;
  private long dropped;

  /**
   * @param nanoTime the monotonic clock
   */
  LogRateLimit(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.last = nanoTime.getAsLong();
  }

  /** Whether a line may be written now. */
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

  /** How many lines were not admitted since this was asked last. */
  long dropped() {
    long since = dropped;
    dropped = 0;
    return since;
  }
}
