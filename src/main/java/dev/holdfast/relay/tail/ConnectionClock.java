package dev.holdfast.relay.tail;

import dev.holdfast.relay.stream.StreamConfig;
import java.time.Duration;

/**
 * The clock of one connection: when it wants a sign of life, and when it has lived long enough.
 * Owned by the thread of its {@link Tail}. Counts by the monotonic clock.
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

  /** How long the connection has lived. */
  Duration age() {
    return since(opened);
  }

  /** Whether the connection should be closed: too old, or too long without an event. */
  boolean isOver() {
    return isOld() || left(lastEvent, config.idleTimeout()).isZero();
  }

  /** Whether the connection has lived as long as one may. */
  boolean isOld() {
    return left(opened, config.maxLifetime()).isZero();
  }

  /** Whether nothing was sent for so long that a comment is due. */
  boolean isSilent() {
    return left(lastWrite, config.keepAlive()).isZero();
  }

  /** How long until the next of these becomes true. */
  Duration untilNextDuty() {
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
