package dev.holdfast.log.redis;

import java.util.concurrent.atomic.AtomicLong;

/** How many bytes all streams together may keep in memory for their tails. */
final class HeadBudget {

  private final long maxBytes;
  private final AtomicLong bytes = new AtomicLong();

  HeadBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Takes bytes, more than there are if need be. */
  void take(long taken) {
    bytes.addAndGet(taken);
  }

  void giveBack(long given) {
    bytes.addAndGet(-given);
  }

  boolean isExceeded() {
    return bytes.get() > maxBytes;
  }
}
