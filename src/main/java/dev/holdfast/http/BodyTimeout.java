package dev.holdfast.http;

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
 * Bounds how long the body of a request may take, from the first byte to the last. A client that
 * sends a byte now and then would otherwise hold its place among the requests for as long as it
 * likes. Thread-safe.
 */
@Singleton
final class BodyTimeout {

  private final Duration most;
  private final ScheduledThreadPoolExecutor clock =
      new ScheduledThreadPoolExecutor(
          1, Thread.ofPlatform().daemon().name("late bodies").factory());

  @Inject
  BodyTimeout(HttpConfig config) {
    this(config.bodyTimeout());
  }

  BodyTimeout(Duration most) {
    this.most = most;
    // Nearly all are cancelled at once.
    clock.setRemoveOnCancelPolicy(true);
  }

  /**
   * Reads a body.
   *
   * @param maxBytes where to stop
   * @throws LateException when it takes too long
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
      throw new LateException();
    }
  }

  private byte[] read(InputStream content, int maxBytes, InterruptibleWait wait)
      throws IOException {
    Future<?> expiry = clock.schedule(wait::end, most.toNanos(), TimeUnit.NANOSECONDS);
    try {
      return content.readNBytes(maxBytes);
    } finally {
      expiry.cancel(false);
    }
  }

  @PreDestroy
  void close() {
    clock.shutdownNow();
  }

  /** A body took too long. */
  static final class LateException extends IOException {}
}
