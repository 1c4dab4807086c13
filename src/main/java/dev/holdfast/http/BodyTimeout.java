package dev.holdfast.http;

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
import java.util.concurrent.locks.ReentrantLock;

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
    Reading reading = new Reading();
    Future<?> expiry = clock.schedule(reading::expire, most.toNanos(), TimeUnit.NANOSECONDS);
    try {
      return content.readNBytes(maxBytes);
    } catch (InterruptedIOException interrupted) {
      if (!reading.hasExpired()) {
        Thread.currentThread().interrupt();
        throw interrupted;
      }
      throw new LateException();
    } finally {
      expiry.cancel(false);
      reading.end();
    }
  }

  @PreDestroy
  void close() {
    clock.shutdownNow();
  }

  /** A read by one thread, which is interrupted when it takes too long, and only then. */
  private static final class Reading {

    private final Thread reader = Thread.currentThread();
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private boolean ended;
    private boolean expired;

    void expire() {
      lock.lock();
      try {
        if (!ended) {
          expired = true;
          reader.interrupt();
        }
      } finally {
        lock.unlock();
      }
    }

    boolean hasExpired() {
      lock.lock();
      try {
        return expired;
      } finally {
        lock.unlock();
      }
    }

    /** Called by the reader. An interrupt that came too late must not reach what it does next. */
    void end() {
      lock.lock();
      try {
        ended = true;
        if (expired) {
          boolean _ = Thread.interrupted();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /** A body took too long. */
  static final class LateException extends IOException {
    private static final long serialVersionUID = 1L;
  }
}
