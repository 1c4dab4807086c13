package dev.holdfast.observe;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value that is asked for at most once in a while, however often it is wanted. Thread-safe.
 *
 * @param <T> the value's type
 */
final class CachedValue<T> {

  private final Duration fresh;
  private final Supplier<T> question;
  private final ReentrantLock lock = new ReentrantLock();

  /** Both guarded by the lock. */
  private @Nullable T answer;

  private long asked;

  /**
   * Has not asked yet.
   *
   * @param fresh for how long an answer holds
   */
  CachedValue(Duration fresh, Supplier<T> question) {
    this.fresh = fresh;
    this.question = question;
  }

  /** The answer, which may be as old as it is fresh. */
  T get() {
    lock.lock();
    try {
      T known = answer;
      if (known == null || System.nanoTime() - asked > fresh.toNanos()) {
        known = question.get();
        answer = known;
        asked = System.nanoTime();
      }
      return known;
    } finally {
      lock.unlock();
    }
  }
}
