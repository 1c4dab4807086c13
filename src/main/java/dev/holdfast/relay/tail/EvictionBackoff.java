package dev.holdfast.relay.tail;

import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Slows down connections that evict each other. A client with two live connections to one stream
 * would otherwise reconnect each as soon as the other threw it out, without end.
 */
public final class EvictionBackoff {

  private static final Duration LONGEST = Duration.ofMinutes(1);

  /** A connection that lived so long before it was evicted was not part of a fight. */
  private static final Duration CALM = Duration.ofMinutes(1);

  private static final int DOUBLINGS = 10;

  private final Map<StreamRef, Integer> recent = new ConcurrentHashMap<>();
  private final Duration first;

  /**
   * Starts with no evictions.
   *
   * @param first the retry that the first evicted connection gets
   */
  public EvictionBackoff(Duration first) {
    this.first = first;
  }

  /**
   * The retry that an evicted connection is sent: twice as long each time.
   *
   * @param age how long that connection had lived
   */
  Duration retryAfter(StreamRef stream, Duration age) {
    int before =
        recent.merge(stream, 1, (old, one) -> age.compareTo(CALM) > 0 ? one : old + one) - 1;
    Duration grown = first.multipliedBy(1L << Math.min(before, DOUBLINGS));
    return grown.compareTo(LONGEST) < 0 ? grown : first.compareTo(LONGEST) > 0 ? first : LONGEST;
  }

  /** Forgets the streams of sessions that are gone, and everything else too: fights start anew. */
  void forget() {
    recent.clear();
  }
}
