package dev.holdfast.upstream.http;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The current connection of a stream. One thread uses and replaces it. Any thread may close it.
 * Then it also closes every later connection.
 */
final class StreamConnection {

  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile @Nullable HttpExchange exchange;

  /** Replaces an exchange that has ended. Closes the new one if this connection is closed. */
  void put(HttpExchange next) {
    exchange = next;
    if (isClosed()) {
      next.close();
    }
  }

  void pause(Duration duration) throws InterruptedException {
    boolean _ = closed.await(duration.toNanos(), TimeUnit.NANOSECONDS);
  }

  boolean isClosed() {
    return closed.getCount() == 0;
  }

  void close() {
    closed.countDown();
    HttpExchange last = exchange;
    if (last != null) {
      last.close();
    }
  }
}
