package dev.holdfast.relay.tail;

import dev.holdfast.relay.stream.StreamConfig;
import java.time.Duration;

/**
 * The deadlines of one connection: keep-alive, idle timeout and maximum lifetime, by the monotonic
 * clock. Owned by the thread of its {@link Tail}.
 */
final class ConnectionClock {

  private final StreamConfig config;
  private final long opened = System.nanoTime();
  private long lastWrite = opened;
  private long lastEvent = opened;

  ConnectionClock(StreamConfig config) {
    this.config = config;
  }

  /** Events were sent. */
  void delivered() {
    lastEvent = System.nanoTime();
  }

  /** Something was sent. */
  void written() {
    lastWrite = System.nanoTime();
  }

  /** The time since the connection was opened. */
  Duration age() {
    return since(opened);
  }

  /** Whether the connection reached its maximum lifetime or its idle timeout. */
  boolean isOver() {
    return isOld() || left(lastEvent, config.idleTimeout()).isZero();
  }

  /** Whether the connection reached its maximum lifetime. */
  boolean isOld() {
    return left(opened, config.maxLifetime()).isZero();
  }

  /** Whether a keep-alive comment is due. */
  boolean isSilent() {
    return left(lastWrite, config.keepAlive()).isZero();
  }

  /** The time until the next of these deadlines. */
  Duration untilNextDeadline() {
    Duration next = left(lastWrite, config.keepAlive());
    next = earlier(next, left(lastEvent, config.idleTimeout()));
    return earlier(next, left(opened, config.maxLifetime()));
  }

  private static Duration earlier(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  private static Duration left(long since, Duration span) {
    Duration left = span.minus(since(since));
    return left.isNegative() ? Duration.ZERO : left;
  }

  private static Duration since(long then) {
    return Duration.ofNanos(System.nanoTime() - then);
  }
}
