package dev.holdfast.relay.pump;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Waits of one thread that another may end, by an interruption that reaches nothing else this
 * thread does. Thread-safe.
 */
public final class InterruptibleWait {

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private @Nullable Thread waiting;
  private boolean broken;

  /**
   * What has to wait.
   *
   * @param <T> what it brings
   * @param <E> how it fails
   */
  @FunctionalInterface
  public interface Work<T extends @Nullable Object, E extends Exception> {

    /** Does it. */
    T run() throws E;
  }

  /**
   * Does what has to wait.
   *
   * @param work is interrupted by {@link #end()}; whether it returns or throws then, is its affair
   */
  public <T extends @Nullable Object, E extends Exception> T during(Work<T, E> work) throws E {
    lock.lock();
    try {
      waiting = Thread.currentThread();
    } finally {
      lock.unlock();
    }
    try {
      return work.run();
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

  /** Whether a wait was ended. */
  public boolean isBroken() {
    lock.lock();
    try {
      return broken;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the wait, if there is one. */
  public void end() {
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
