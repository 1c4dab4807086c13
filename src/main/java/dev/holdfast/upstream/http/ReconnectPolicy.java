package dev.holdfast.upstream.http;

import dev.holdfast.retry.Backoff;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a stream connects again, and when it gives up. Immutable: each attempt carries the
 * policy for the next one.
 *
 * @param failures backoff of connections that broke or could not be made
 * @param closes backoff of connections that the server closed without an event; null before the
 *     first such close
 */
record ReconnectPolicy(Backoff failures, @Nullable Backoff closes) {

  private static final Duration SHORTEST = Duration.ofMillis(50);
  private static final Backoff AFTER_CLOSE = new Backoff(SHORTEST, Duration.ofSeconds(1));

  /** Upper bound of the random part of a delay: streams often break at the same time. */
  private static final double JITTER = 0.2;

  /** The next connection, after a delay. */
  record Attempt(Duration delay, ReconnectPolicy next) {}

  /** Gives up after some failures in a row. Delays have an upper bound, without jitter. */
  static ReconnectPolicy limited(int limit, Duration maxDelay) {
    return new ReconnectPolicy(new Backoff(SHORTEST, maxDelay, limit, 0), null);
  }

  static ReconnectPolicy endless(Duration maxDelay) {
    return limited(Integer.MAX_VALUE, maxDelay);
  }

  /** The policy after the server has sent something. */
  ReconnectPolicy afterProgress() {
    return new ReconnectPolicy(failures.reset(), null);
  }

  /**
   * The attempt after an orderly close. A server may close a stream on purpose and as often as it
   * likes (MCP 2025-11-25, Transports), so a close is no failure. The first delay is what the
   * server asks for. Later delays grow to a second, for servers that ask for none.
   */
  Attempt afterClose(Duration retry) {
    Duration slowed = closes == null ? Duration.ZERO : closes.delay();
    Duration delay = retry.compareTo(slowed) > 0 ? retry : slowed;
    Duration bounded = delay.compareTo(failures.longest()) < 0 ? delay : failures.longest();
    Backoff later = closes == null ? AFTER_CLOSE : closes.next();
    return new Attempt(bounded, new ReconnectPolicy(failures.reset(), later));
  }

  /**
   * The attempt after a connection broke or could not be made. Empty when the stream gives up.
   * {@code random} from 0 to 1 spreads the attempts of many streams.
   */
  Optional<Attempt> afterFailure(Duration retry, double random) {
    if (failures.isExhausted()) {
      return Optional.empty();
    }
    Duration delay = failures.delay(retry);
    Duration spread = Duration.ofNanos((long) (delay.toNanos() * JITTER * random));
    return Optional.of(
        new Attempt(delay.plus(spread), new ReconnectPolicy(failures.next(), closes)));
  }
}
