package dev.holdfast.lock;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for try-with-resources: {@code try (var _ = lock.hold())}. It is its own hold, because a
 * stream that waits has many locks.
 */
public final class AutoLock extends ReentrantLock implements Hold {

  /** Waits for the lock. */
  public Hold hold() {
    lock();
    return this;
  }

  @Override
  public void close() {
    unlock();
  }
}
