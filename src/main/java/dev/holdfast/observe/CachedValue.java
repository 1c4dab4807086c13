package dev.holdfast.observe;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A value that is loaded again once it is too old. Thread-safe. */
final class CachedValue<T> {

  private final Duration maxAge;
  private final Supplier<T> loader;
  private final ReentrantLock lock = new ReentrantLock();

  // The lock guards both.
  private @Nullable T value;
  private long loaded;

  CachedValue(Duration maxAge, Supplier<T> loader) {
    this.maxAge = maxAge;
    this.loader = loader;
  }

  /** Returns the value, loaded at most the maximum age ago. */
  T get() {
    lock.lock();
    try {
      T current = value;
      if (current == null || System.nanoTime() - loaded > maxAge.toNanos()) {
        current = loader.get();
        value = current;
        loaded = System.nanoTime();
      }
      return current;
    } finally {
      lock.unlock();
    }
  }
}
