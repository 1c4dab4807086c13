package dev.holdfast.lock;

import java.util.concurrent.locks.ReentrantLock;

/** A lock for try-with-resources: {@code try (var _ = lock.hold())}. */
public final class AutoLock extends ReentrantLock {

  private final transient Hold hold = this::unlock;

  /** Hold of the lock. Closing it unlocks. */
  @FunctionalInterface
  public interface Hold extends AutoCloseable {
    @Override
    void close();
  }

  /** Waits for the lock. */
  public Hold hold() {
    lock();
    return hold;
  }
}
