package dev.holdfast.http.socket;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * The requests that a stopping server still gets. Their connections were open before, so the server
 * has accepted them, and each needs its response. Thread-safe.
 */
final class LastRequests {

  private static final Duration POLL_INTERVAL = Duration.ofMillis(10);

  private final Duration quiet;
  private final Duration most;
  private final AtomicInteger inProgress = new AtomicInteger();
  private volatile long latest = System.nanoTime();

  /**
   * Creates the record of no request.
   *
   * @param quiet how long none must arrive before the server may stop
   * @param most how long the server waits at the most
   */
  LastRequests(Duration quiet, Duration most) {
    this.quiet = quiet;
    this.most = most;
  }

  /** A request has arrived. */
  void began() {
    inProgress.incrementAndGet();
    latest = System.nanoTime();
  }

  /** A request has its response, or has lost its connection. */
  void ended() {
    latest = System.nanoTime();
    inProgress.decrementAndGet();
  }

  /** Waits until there is no connection, or until each request has ended and no more arrive. */
  void await(BooleanSupplier hasConnections) throws InterruptedException {
    long begun = System.nanoTime();
    latest = begun;
    while (hasConnections.getAsBoolean()
        && System.nanoTime() - begun < most.toNanos()
        && (inProgress.get() > 0 || System.nanoTime() - latest < quiet.toNanos())) {
      Thread.sleep(POLL_INTERVAL);
    }
  }
}
