package dev.holdfast.http.limit;

import dev.holdfast.http.error.RequestRejectedException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Lets a few requests at a time look for their streams, and the others wait in order. When
 * thousands of clients come back at once, this leaves processors and store to calls that run.
 * Thread-safe.
 */
@Singleton
public final class Turns {

  /** Enough to use a processor while the store answers in a few milliseconds. */
  private static final int PER_PROCESSOR = 8;

  /** After this time a client should ask another replica: the store may not answer this one. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  private final Semaphore free;
  private final Duration longestWait;

  @Inject
  Turns() {
    this(PER_PROCESSOR * Runtime.getRuntime().availableProcessors(), LONGEST_WAIT);
  }

  Turns(int most, Duration longestWait) {
    free = new Semaphore(most, true);
    this.longestWait = longestWait;
  }

  /** A turn, to be closed once. */
  @FunctionalInterface
  public interface Turn extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Waits for a turn.
   *
   * @throws RequestRejectedException with 503 when too many came before
   */
  public Turn await() {
    try {
      if (free.tryAcquire(longestWait.toNanos(), TimeUnit.NANOSECONDS)) {
        return free::release;
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    throw new RequestRejectedException(503, "Too many clients come back at once; try again");
  }
}
