package dev.holdfast.log.redis;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A stream that this replica writes: its writer and its newest events, and whether its first local
 * watcher needs no round trip because the opening has recorded this replica as the tail.
 */
final class OwnedStream {

  /** How long the record of the opening is relied on, should the word that it changed get lost. */
  private static final long FREE_FOR = Duration.ofSeconds(2).toNanos();

  private static final long FREE = 0;
  private static final long TAKEN = -1;

  private final RedisStreamWriter writer;
  private final RecentEvents head;
  private final long opened = System.nanoTime();

  /** {@link #FREE}, {@link #TAKEN}, or the number of the seat that came without a round trip. */
  private final AtomicLong freeSeat;

  /**
   * @param recordedTail whether this replica is on record as the stream's tail
   */
  OwnedStream(RedisStreamWriter writer, RecentEvents head, boolean recordedTail) {
    this.writer = writer;
    this.head = head;
    this.freeSeat = new AtomicLong(recordedTail ? FREE : TAKEN);
  }

  RedisStreamWriter writer() {
    return writer;
  }

  RecentEvents head() {
    return head;
  }

  /** Whether the seat may be the one that the opening has recorded; at most one ever is. */
  boolean takeFree(long seat) {
    return System.nanoTime() - opened < FREE_FOR && freeSeat.compareAndSet(FREE, seat);
  }

  /**
   * Whether the first local watcher may still come. Until then the stream counts as watched: a call
   * is often answered before its tail has started, and the tail need not ask Redis for that.
   */
  boolean isAwaited() {
    return freeSeat.get() == FREE && System.nanoTime() - opened < FREE_FOR;
  }

  /**
   * The recorded tail is another replica's now.
   *
   * @return the number of the seat that had it
   */
  OptionalLong loseFree() {
    long seat = freeSeat.getAndSet(TAKEN);
    return seat > 0 ? OptionalLong.of(seat) : OptionalLong.empty();
  }
}
