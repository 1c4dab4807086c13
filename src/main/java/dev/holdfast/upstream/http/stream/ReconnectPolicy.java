package dev.holdfast.upstream.http.stream;

import java.time.Duration;
import java.util.Optional;

/**
 * When to connect a stream again, and when to give up. Immutable: each answer names the policy that
 * holds afterwards.
 *
 * @param ceiling the longest delay
 * @param limit how many failures in a row are borne
 * @param failures how many there have been
 * @param quietCloses how often in a row the server has closed the stream in order without having
 *     sent anything
 */
record ReconnectPolicy(Duration ceiling, int limit, int failures, int quietCloses) {

  private static final Duration QUIET_BASE = Duration.ofMillis(50);
  private static final Duration QUIET_CEILING = Duration.ofSeconds(1);

  /** Failures are spread by up to this part of the delay: streams often break together. */
  private static final double JITTER = 0.2;

  private static final int MAX_DOUBLINGS = 16;

  /**
   * What to do next.
   *
   * @param delay how long to wait before it
   * @param next the policy that holds then
   */
  record Attempt(Duration delay, ReconnectPolicy next) {}

  static ReconnectPolicy limited(int limit, Duration ceiling) {
    return new ReconnectPolicy(ceiling, limit, 0, 0);
  }

  static ReconnectPolicy endless(Duration ceiling) {
    return limited(Integer.MAX_VALUE, ceiling);
  }

  /** The stream has brought something: all is well again. */
  ReconnectPolicy afterProgress() {
    return failures == 0 && quietCloses == 0 ? this : limited(limit, ceiling);
  }

  /**
   * The server closed the stream in order. It may do so on purpose and for as long as it likes (MCP
   * 2025-11-25, Transports), so this is no failure. The first wait is what the server asks for; if
   * it goes on like that the waits grow to a second, for servers that ask for none.
   *
   * @param retry what the server asks for
   */
  Attempt afterClose(Duration retry) {
    Duration slowed =
        quietCloses == 0 ? Duration.ZERO : min(doubled(QUIET_BASE, quietCloses - 1), QUIET_CEILING);
    int closes = Math.min(quietCloses + 1, MAX_DOUBLINGS);
    return new Attempt(
        min(max(retry, slowed), ceiling), new ReconnectPolicy(ceiling, limit, 0, closes));
  }

  /**
   * The connection broke, or none could be made.
   *
   * @param retry what the server asks for
   * @param random from 0 to 1, to spread the attempts of many streams
   * @return empty to give up
   */
  Optional<Attempt> afterFailure(Duration retry, double random) {
    if (failures >= limit) {
      return Optional.empty();
    }
    Duration delay = min(doubled(max(retry, QUIET_BASE), failures), ceiling);
    Duration spread = Duration.ofNanos((long) (delay.toNanos() * JITTER * random));
    int borne = limit == Integer.MAX_VALUE ? Math.min(failures + 1, MAX_DOUBLINGS) : failures + 1;
    return Optional.of(
        new Attempt(delay.plus(spread), new ReconnectPolicy(ceiling, limit, borne, quietCloses)));
  }

  private static Duration doubled(Duration base, int times) {
    return base.multipliedBy(1L << Math.min(times, MAX_DOUBLINGS));
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  private static Duration max(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? b : a;
  }
}
