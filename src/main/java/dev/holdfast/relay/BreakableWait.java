package dev.holdfast.relay;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits of one thread that another may end, by an interruption that reaches nothing else this
 * thread does. Thread-safe.
 */
final class BreakableWait {

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private @Nullable Thread waiting;
  private boolean broken;

  /**
   * Does what has to wait.
   *
   * @param work is interrupted by {@link #end()}; whether it returns or throws then, is its affair
   */
  <T extends @Nullable Object> T during(Supplier<T> work) {
    lock.lock();
    try {
      waiting = Thread.currentThread();
    } finally {
      lock.unlock();
    }
    try {
      return work.get();
    } finally {
      leave();
    }
  }

  private void leave() {
    lock.lock();
    try {
      waiting = null;
      if (broken) {
        boolean _ = Thread.interrupted(); // It was for the wait, and not for what is left to do.
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends the wait, if there is one. */
  void end() {
    lock.lock();
    try {
      if (waiting != null) {
        broken = true;
        waiting.interrupt();
      }
    } finally {
      lock.unlock();
    }
  }
}
