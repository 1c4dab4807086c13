package dev.holdfast.budget;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits how often a log message that a peer can cause at will is written: at most once per
 * interval, with the number of those that were left out. Thread-safe.
 */
public final class LogRate {

  private final long intervalNanos;
  private final AtomicLong written;
  private final AtomicLong leftOut = new AtomicLong();

  /** Creates a rate of one message per interval. */
  public LogRate(Duration interval) {
    intervalNanos = interval.toNanos();
    written = new AtomicLong(System.nanoTime() - intervalNanos);
  }

  /**
   * Asks whether to write a message.
   *
   * @return how many messages were left out since the last one; empty to leave this one out, too
   */
  public OptionalLong next() {
    long before = written.get();
    long now = System.nanoTime();
    if (now - before >= intervalNanos && written.compareAndSet(before, now)) {
      return OptionalLong.of(leftOut.getAndSet(0));
    }
    leftOut.incrementAndGet();
    return OptionalLong.empty();
  }
}
