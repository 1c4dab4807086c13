package dev.holdfast.upstream.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How much of one server's answers may lie here unread, all together. Many fast streams at a slow
 * store would otherwise need as many buffers at once. Thread-safe.
 */
final class Inflow {

  /** Of the heap; what was read and is on its way to the log takes a few times as much again. */
  private static final int SHARE = 16;

  private final AtomicLong held = new AtomicLong();
  private final long budget;

  /** Begins empty. */
  Inflow(long budget) {
    this.budget = budget;
  }

  /** As much as this process can spare. */
  static Inflow ofHeap() {
    return new Inflow(Runtime.getRuntime().maxMemory() / SHARE);
  }

  void add(long bytes) {
    held.addAndGet(bytes);
  }

  void remove(long bytes) {
    held.addAndGet(-bytes);
  }

  /** Whether everyone should hold back as early as possible. */
  boolean isFull() {
    return held.get() > budget;
  }
}
