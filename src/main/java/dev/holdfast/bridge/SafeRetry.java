package dev.holdfast.bridge;

import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Repeats what the server has certainly not seen, or has said to come back for. Anything else might
 * be done twice.
 *
 * @param most how long this goes on before the failure is thrown
 */
record SafeRetry(Duration most) {

  private static final Logger LOG = Logger.getLogger(SafeRetry.class);
  private static final Duration FIRST = Duration.ofMillis(250);
  private static final Duration LONGEST = Duration.ofSeconds(5);

  /** A server may ask for a longer wait than ours, but not for one without end. */
  private static final Duration MOST_ASKED = Duration.ofMinutes(1);

  /** As {@link #until}, for what nobody takes back. */
  <T> T until(Supplier<T> attempt) {
    return until(attempt, () -> false);
  }

  /**
   * Tries until it succeeds.
   *
   * @param withdrawn whether it is not wanted any more; then the last failure is thrown
   * @throws UpstreamException what is final, or the last failure when the time is up
   */
  <T> T until(Supplier<T> attempt, BooleanSupplier withdrawn) {
    long start = System.nanoTime();
    Duration delay = FIRST;
    while (true) {
      try {
        return attempt.get();
      } catch (UpstreamException failure) {
        boolean over = System.nanoTime() - start > most.toNanos() || withdrawn.getAsBoolean();
        if (over || !mayRepeat(failure)) {
          throw failure;
        }
        LOG.warnf("trying again: %s", failure.getMessage());
        pause(longer(delay, askedBy(failure)), failure);
        delay = shorter(delay.multipliedBy(2), LONGEST);
      }
    }
  }

  private static boolean mayRepeat(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Unreachable _, UpstreamException.Busy _ -> true;
      // Without a time to come back, nobody says that nothing was done.
      case UpstreamException.Refused refused ->
          refused.status() == 429 || (refused.status() == 503 && refused.retryAfter().isPresent());
      case UpstreamException.TimedOut _, UpstreamException.Broken _ -> false;
      case UpstreamException.SessionGone _ -> false;
    };
  }

  private static Duration askedBy(UpstreamException failure) {
    return failure instanceof UpstreamException.Refused refused
        ? shorter(refused.retryAfter().orElse(Duration.ZERO), MOST_ASKED)
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

  private static Duration longer(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? b : a;
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }
}
