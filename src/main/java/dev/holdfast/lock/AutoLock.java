package dev.holdfast.lock;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for try-with-resources: {@code try (var _ = lock.hold())}. The hold is the lock itself and
 * needs no memory of its own, since each stream has several locks.
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
