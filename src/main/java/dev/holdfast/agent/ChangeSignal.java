package dev.holdfast.agent;

import dev.holdfast.lock.AutoLock;
import java.time.Duration;
import java.util.concurrent.locks.Condition;

/** Counts changes, and lets threads wait for the next one. Thread-safe. */
final class ChangeSignal {

  private final AutoLock lock = new AutoLock();
  private final Condition changed = lock.newCondition();

  /** Guarded by the lock. */
  private long count;

  long count() {
    try (var _ = lock.hold()) {
      return count;
    }
  }

  void change() {
    try (var _ = lock.hold()) {
      count++;
      changed.signalAll();
    }
  }

  /** Waits until there were more changes than {@code known}. Returns false after the timeout. */
  boolean await(long known, Duration timeout) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = timeout.toNanos();
      while (count == known && left > 0) {
        left = changed.awaitNanos(left);
      }
      return count != known;
    } finally {
      lock.unlock();
    }
  }
}
