package dev.holdfast.bridge;

import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Retries a call if the server has certainly not acted on it, or has named a time for a retry. In
 * any other case, the server might act twice.
 *
 * @param timeout time after which the last failure is thrown
 */
record SafeRetry(Duration timeout) {

  /** For the first session: a wrong address must show soon. */
  static final SafeRetry SHORT = new SafeRetry(Duration.ofSeconds(30));

  /** For everything else: the server has worked before. */
  static final SafeRetry LONG = new SafeRetry(Duration.ofMinutes(10));

  private static final Logger LOG = Logger.getLogger(SafeRetry.class);
  private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(250), Duration.ofSeconds(5));

  /** Upper bound of a delay that the server asks for. */
  private static final Duration MAX_RETRY_AFTER = Duration.ofMinutes(1);

  /**
   * Repeats the attempt until it succeeds.
   *
   * @param cancelled whether the result is no longer wanted; then the last failure is thrown
   * @throws UpstreamException a failure that must not be retried, or the last one
   */
  <T> T call(Supplier<T> attempt, BooleanSupplier cancelled) {
    long start = System.nanoTime();
    for (Backoff backoff = BACKOFF; ; backoff = backoff.next()) {
      try {
        return attempt.get();
      } catch (UpstreamException failure) {
        boolean over = System.nanoTime() - start > timeout.toNanos() || cancelled.getAsBoolean();
        if (over || !isSafe(failure)) {
          throw failure;
        }
        LOG.warnf("trying again reason=%s", failure.getMessage());
        pause(Collections.max(List.of(retryAfter(failure), backoff.delay())), failure);
      }
    }
  }

  private static boolean isSafe(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Unreachable _, UpstreamException.Busy _ -> true;
      // A 503 without a Retry-After does not prove that the server did nothing.
      case UpstreamException.Refused refused ->
          refused.status() == 429 || (refused.status() == 503 && refused.retryAfter().isPresent());
      case UpstreamException.TimedOut _,
          UpstreamException.TooLarge _,
          UpstreamException.Broken _,
          UpstreamException.NoToken _,
          UpstreamException.SessionGone _ ->
          false;
    };
  }

  private static Duration retryAfter(UpstreamException failure) {
    return failure instanceof UpstreamException.Refused refused
        ? Collections.min(List.of(refused.retryAfter().orElse(Duration.ZERO), MAX_RETRY_AFTER))
        : Duration.ZERO;
  }

  private static void pause(Duration delay, UpstreamException failure) {
    try {
      Thread.sleep(delay);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw failure;
    }
  }
}
