package dev.holdfast.upstream.http;

import dev.holdfast.lock.AutoLock;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/**
 * The current connection of a stream. One thread uses and replaces it. Any thread may close it.
 * Then it also closes every later connection.
 */
final class StreamConnection {

  private final AutoLock lock = new AutoLock();
  private final Condition closing = lock.newCondition();

  // Both guarded by the lock.
  private @Nullable HttpExchange exchange;
  private boolean closed;

  /** Replaces an exchange that has ended. Closes the new one if this connection is closed. */
  void put(HttpExchange next) {
    try (var _ = lock.hold()) {
      exchange = next;
      if (!closed) {
        return;
      }
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
    try (var _ = lock.hold()) {
      return closed;
    }
  }

  void close() {
    HttpExchange last;
    try (var _ = lock.hold()) {
      closed = true;
      last = exchange;
      closing.signalAll();
    }
    if (last != null) {
      last.close();
    }
  }
}
