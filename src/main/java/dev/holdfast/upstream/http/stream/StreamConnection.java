package dev.holdfast.upstream.http.stream;

import dev.holdfast.upstream.http.client.Deadline;
import dev.holdfast.upstream.http.client.HttpExchange;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Holds the connection that a stream has at the moment. One thread uses and replaces it; any thread
 * may close it for good, also between two connections.
 */
public final class StreamConnection {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition closing = lock.newCondition();

  // Both guarded by the lock.
  private @Nullable HttpExchange exchange;
  private boolean closed;

  /**
   * Replaces the exchange, which should be closed by then. Closes the new one if it is too late.
   */
  void put(HttpExchange next) {
    lock.lock();
    try {
      exchange = next;
      if (!closed) {
        return;
      }
    } finally {
      lock.unlock();
    }
    next.close();
  }

  /**
   * Waits, at most until the slot is closed.
   *
   * @throws InterruptedException if the thread is interrupted meanwhile
   */
  void pause(Duration duration) throws InterruptedException {
    Deadline end = Deadline.after(duration);
    lock.lockInterruptibly();
    try {
      while (!closed && !end.hasPassed()) {
        var _ = closing.awaitNanos(end.remaining());
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Closes the exchange and all that are still to come. */
  public void close() {
    HttpExchange last;
    lock.lock();
    try {
      closed = true;
      last = exchange;
      closing.signalAll();
    } finally {
      lock.unlock();
    }
    if (last != null) {
      last.close();
    }
  }
}
