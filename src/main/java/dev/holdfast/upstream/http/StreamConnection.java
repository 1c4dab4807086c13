package dev.holdfast.upstream.http;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The current connection of a stream. One thread uses and replaces it. Any thread may close it.
 * Then it also closes every later connection.
 */
final class StreamConnection {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition closing = lock.newCondition();

  // Both guarded by the lock.
  private @Nullable HttpExchange exchange;
  private boolean closed;

  /** Replaces an exchange that has ended. Closes the new one if this connection is closed. */
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

  void close() {
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
