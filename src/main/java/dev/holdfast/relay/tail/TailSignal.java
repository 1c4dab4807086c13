package dev.holdfast.relay.tail;

import dev.holdfast.log.Watcher;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a waiting {@link Tail} is woken with. A wake-up that comes while nobody waits is kept, so
 * one between a read and the wait after it is not lost. All fields are guarded by the lock.
 */
final class TailSignal implements Watcher {

  /** Why a wait ended. */
  enum Cause {
    /** There may be something to read. */
    WOKEN,
    /** Nothing happened for as long as was to be waited. */
    TIMED_OUT,
    /** A newer tail took the stream. */
    EVICTED,
    /** The client is gone. */
    GONE
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean woken;
  private boolean evicted;
  private boolean gone;

  /** Waits for the next cause. One that ends the tail outlasts the wait: it is told every time. */
  Cause await(Duration most) throws InterruptedException {
    lock.lock();
    try {
      long left = most.toNanos();
      while (!woken && !evicted && !gone && left > 0) {
        left = changed.awaitNanos(left);
      }
      Cause cause = gone ? Cause.GONE : evicted ? Cause.EVICTED : cause(woken);
      woken = false;
      return cause;
    } finally {
      lock.unlock();
    }
  }

  /** What {@link #await} would say now, without waiting and without using up a wake-up. */
  boolean ended() {
    lock.lock();
    try {
      return gone || evicted;
    } finally {
      lock.unlock();
    }
  }

  private static Cause cause(boolean woken) {
    return woken ? Cause.WOKEN : Cause.TIMED_OUT;
  }

  @Override
  public void wake() {
    set(() -> woken = true);
  }

  @Override
  public void evicted() {
    set(() -> evicted = true);
  }

  /** The client is gone. */
  void gone() {
    set(() -> gone = true);
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
