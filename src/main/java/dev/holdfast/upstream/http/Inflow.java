package dev.holdfast.upstream.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How much of one server's answers may lie here, all together, until whoever reads it wants more; a
 * pump does when what it had is in the log. Many fast streams at a slow store would otherwise need
 * as many buffers at once, and everybody else's events would wait in line behind them. Thread-safe.
 */
final class Inflow {

  /** Of the heap; what is on its way to the log takes a few times as much again. */
  private static final int SHARE = 16;

  /** What a busy store takes in a fraction of a second, in bytes. */
  private static final long MOST = 8 * 1024 * 1024;

  private final AtomicLong held = new AtomicLong();
  private final long budget;

  /** Begins empty. */
  Inflow(long budget) {
    this.budget = budget;
  }

  /** As much as this process can spare. */
  static Inflow ofHeap() {
    return new Inflow(Math.min(Runtime.getRuntime().maxMemory() / SHARE, MOST));
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
