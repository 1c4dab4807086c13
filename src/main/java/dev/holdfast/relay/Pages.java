package dev.holdfast.relay;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How much all tails together may hold of what they have read and their clients have not taken yet.
 * While many clients are stuck, everyone reads less at once; nobody has to wait. Thread-safe.
 */
final class Pages {

  /** Read at once by a tail that has the room to itself. */
  static final long LARGEST = 1024 * 1024;

  /** Read however many do so: about what goes into a socket at once. */
  static final long SMALLEST = 32 * 1024;

  /** Of the heap: events that were read lie there twice more, as frames and on their way out. */
  private static final int HEAP_SHARE = 24;

  /** What is given away of what is left, so that there is always some left. */
  private static final int SHARE = 8;

  private final AtomicLong left;

  /**
   * Gives out so much.
   *
   * @param bytes more than that are given out only as smallest pages
   */
  Pages(long bytes) {
    left = new AtomicLong(bytes);
  }

  /** As much as this process can spare. */
  static Pages ofHeap() {
    return new Pages(Runtime.getRuntime().maxMemory() / HEAP_SHARE);
  }

  /** A page to read into; to be given back. In bytes. */
  long take() {
    long taken = Math.clamp(left.get() / SHARE, SMALLEST, LARGEST);
    left.addAndGet(-taken);
    return taken;
  }

  void giveBack(long taken) {
    left.addAndGet(taken);
  }
}
