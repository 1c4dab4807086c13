package dev.holdfast.http;

import dev.holdfast.http.origin.HttpConfig;
import dev.holdfast.relay.pump.InterruptibleWait;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Limits the time for reading a request body. Otherwise a client that sends a byte now and then
 * would occupy a request slot for ever. Thread-safe.
 */
@Singleton
final class BodyTimeout {

  private final Duration limit;
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(
          1, Thread.ofPlatform().daemon().name("body timeout").factory());

  @Inject
  BodyTimeout(HttpConfig config) {
    this(config.bodyTimeout());
  }

  BodyTimeout(Duration limit) {
    this.limit = limit;
    // Nearly all timeouts are cancelled within milliseconds.
    timer.setRemoveOnCancelPolicy(true);
  }

  /**
   * Reads a body up to its end or the size limit.
   *
   * @throws ExpiredException when it takes too long
   * @throws IOException when it ends early
   */
  byte[] read(InputStream content, int maxBytes) throws IOException {
    InterruptibleWait wait = new InterruptibleWait();
    try {
      return wait.during(() -> read(content, maxBytes, wait));
    } catch (InterruptedIOException interrupted) {
      if (!wait.isEnded()) {
        Thread.currentThread().interrupt();
        throw interrupted;
      }
      throw new ExpiredException();
    }
  }

  private byte[] read(InputStream content, int maxBytes, InterruptibleWait wait)
      throws IOException {
    Future<?> expiry = timer.schedule(wait::end, limit.toNanos(), TimeUnit.NANOSECONDS);
    try {
      return content.readNBytes(maxBytes);
    } finally {
      expiry.cancel(false);
    }
  }

  @PreDestroy
  void close() {
    timer.shutdownNow();
  }

  /** Reading a body took too long. */
  static final class ExpiredException extends IOException {}
}
