package dev.holdfast.relay.pump;

import dev.holdfast.lock.AutoLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets other threads end a blocking operation of one thread. The interruption reaches that
 * operation and nothing else that the thread does. Thread-safe.
 */
public final class InterruptibleWait {

  private final AutoLock lock = new AutoLock();

  private @Nullable Thread waiting; // Guarded by the lock.
  private volatile boolean ended; // Written under the lock.

  /** A blocking operation with a result and a failure. */
  @FunctionalInterface
  public interface Operation<T extends @Nullable Object, E extends Exception> {
    /** Runs the operation. */
    T run() throws E;
  }

  /** Runs a blocking operation, which {@link #end()} interrupts. */
  public <T extends @Nullable Object, E extends Exception> T during(Operation<T, E> operation)
      throws E {
    try (var _ = lock.hold()) {
      waiting = Thread.currentThread();
    }
    try {
      return operation.run();
    } finally {
      leave();
    }
  }

  private void leave() {
    try (var _ = lock.hold()) {
      waiting = null;
      if (ended) {
        boolean _ = Thread.interrupted(); // The interruption was for the operation alone.
      }
    }
  }

  /** Returns true if {@link #end} has interrupted an operation. */
  public boolean isEnded() {
    return ended;
  }

  /** Interrupts the operation, if one is running. */
  public void end() {
    try (var _ = lock.hold()) {
      if (waiting != null) {
        ended = true;
        waiting.interrupt();
      }
    }
  }
}
