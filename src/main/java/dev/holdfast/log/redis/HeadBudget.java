package dev.holdfast.log.redis;

import java.util.concurrent.atomic.AtomicLong;

/** How many bytes all streams together may keep in memory for their tails. */
final class HeadBudget {

  private static final int HEAP_SHARE = 16;
  private static final long MOST = 32 * 1024 * 1024;

  private final long maxBytes;
  private final AtomicLong bytes = new AtomicLong();

  HeadBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** As much as this process can spare. */
  static HeadBudget ofHeap() {
    return new HeadBudget(Math.min(Runtime.getRuntime().maxMemory() / HEAP_SHARE, MOST));
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
