package dev.holdfast.relay.tail;

import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Slows down connections that evict each other. A client with two live connections to one stream
 * would otherwise reconnect each of them as soon as the other evicts it. Thread-safe.
 */
public final class EvictionBackoff {

  private static final Duration MAX_RETRY = Duration.ofMinutes(1);

  /** After this lifetime, an eviction counts as the first. */
  private static final Duration CALM = Duration.ofMinutes(1);

  private static final int MAX_DOUBLINGS = 10;

  private final Map<StreamRef, Integer> recent = new ConcurrentHashMap<>();
  private final Duration first;

  /**
   * Creates a record without evictions.
   *
   * @param first the {@code retry} that the first evicted connection gets
   */
  public EvictionBackoff(Duration first) {
    this.first = first;
  }

  /**
   * The {@code retry} for an evicted connection: twice as long for each eviction, up to a bound.
   *
   * @param age the time since the connection was opened
   */
  Duration retryAfter(StreamRef stream, Duration age) {
    int before =
        recent.merge(stream, 1, (old, one) -> age.compareTo(CALM) > 0 ? one : old + one) - 1;
    Duration grown = first.multipliedBy(1L << Math.min(before, MAX_DOUBLINGS));
    return grown.compareTo(MAX_RETRY) < 0
        ? grown
        : first.compareTo(MAX_RETRY) > 0 ? first : MAX_RETRY;
  }

  /** Forgets all evictions, so that streams of ended sessions take no memory. */
  void clear() {
    recent.clear();
  }
}
