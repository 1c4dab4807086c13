package dev.holdfast.relay.pump;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets other threads end a blocking operation of one thread. The interruption reaches that
 * operation and nothing else that the thread does. Thread-safe.
 */
public final class InterruptibleWait {

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private @Nullable Thread waiting;
  private boolean ended;

  /**
   * A blocking operation.
   *
   * @param <T> its result
   * @param <E> its failure
   */
  @FunctionalInterface
  public interface Operation<T extends @Nullable Object, E extends Exception> {

    /** Runs the operation. */
    T run() throws E;
  }

  /**
   * Runs a blocking operation, which {@link #end()} interrupts.
   *
   * @return the result of the operation, also if it was interrupted and returned one
   */
  public <T extends @Nullable Object, E extends Exception> T during(Operation<T, E> operation)
      throws E {
    lock.lock();
    try {
      waiting = Thread.currentThread();
    } finally {
      lock.unlock();
    }
    try {
      return operation.run();
    } finally {
      leave();
    }
  }

  private void leave() {
    lock.lock();
    try {
      waiting = null;
      if (ended) {
        boolean _ = Thread.interrupted(); // The interruption was for the operation alone.
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether {@link #end} has interrupted an operation. */
  public boolean isEnded() {
    lock.lock();
    try {
      return ended;
    } finally {
      lock.unlock();
    }
  }

  /** Interrupts the operation, if one is running. */
  public void end() {
    lock.lock();
    try {
      if (waiting != null) {
        ended = true;
        waiting.interrupt();
      }
    } finally {
      lock.unlock();
    }
  }
}
