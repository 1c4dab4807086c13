package dev.holdfast.relay.tail;

import dev.holdfast.log.Watcher;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Wakes a waiting {@link Tail}. A wake-up between a read and the wait after it is kept.
 * Thread-safe.
 */
final class TailSignal implements Watcher {

  /** Why a wait ended. */
  enum Cause {
    /** There may be events to read. */
    WOKEN,
    /** The time is over. */
    TIMED_OUT,
    /** A newer tail took the stream. */
    EVICTED,
    /** The client is gone. */
    GONE
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Guarded by the lock.
  private boolean woken;

  /** {@link Cause#EVICTED} or {@link Cause#GONE}, once the tail must end. */
  private @Nullable Cause ending;

  /** Waits for the next cause. A cause that ends the tail is returned by every later call. */
  Cause await(Duration most) throws InterruptedException {
    lock.lock();
    try {
      long left = most.toNanos();
      while (!woken && ending == null && left > 0) {
        left = changed.awaitNanos(left);
      }
      Cause cause = woken ? Cause.WOKEN : Cause.TIMED_OUT;
      woken = false;
      return ending == null ? cause : ending;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the tail must end. Does not wait and does not use up a wake-up. */
  boolean isEnding() {
    lock.lock();
    try {
      return ending != null;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void wake() {
    set(() -> woken = true);
  }

  @Override
  public void evicted() {
    set(() -> ending = ending == null ? Cause.EVICTED : ending);
  }

  /** The client is gone. This outweighs an eviction. */
  void gone() {
    set(() -> ending = Cause.GONE);
  }

  private void set(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
