package dev.holdfast.log.redis.write;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A stream that this replica writes. The opening of a stream records this replica as its tail, so
 * the first local watcher needs no round trip to be recorded.
 */
public final class OwnedStream {

  /** How long to rely on the recorded tail, in case an eviction is not heard. */
  private static final long RELIABLE_FOR = Duration.ofSeconds(2).toNanos();

  private static final long FREE = 0;
  private static final long TAKEN = -1;

  private final RedisStreamWriter writer;
  private final RecentEvents recent;
  private final long opened = System.nanoTime();

  /** {@link #FREE}, {@link #TAKEN}, or the number of the watcher that needed no round trip. */
  private final AtomicLong recordedTail;

  /**
   * @param isTail whether this replica is recorded as the stream's tail
   */
  OwnedStream(RedisStreamWriter writer, RecentEvents recent, boolean isTail) {
    this.writer = writer;
    this.recent = recent;
    this.recordedTail = new AtomicLong(isTail ? FREE : TAKEN);
  }

  /** Writes the stream. */
  public RedisStreamWriter writer() {
    return writer;
  }

  /** The newest events of the stream. */
  public RecentEvents recent() {
    return recent;
  }

  /** Whether the watcher with this number is the recorded tail. At most one watcher ever is. */
  public boolean takeRecordedTail(long number) {
    return isReliable() && recordedTail.compareAndSet(FREE, number);
  }

  /**
   * Whether the first local watcher may still come. Until then the stream counts as watched: a call
   * is often answered before its tail has started, and that tail need not ask Redis.
   */
  boolean isWatcherExpected() {
    return recordedTail.get() == FREE && isReliable();
  }

  private boolean isReliable() {
    return System.nanoTime() - opened < RELIABLE_FOR;
  }

  /**
   * Another replica is recorded as the tail now.
   *
   * @return the number of the watcher that took the recorded tail
   */
  public OptionalLong loseRecordedTail() {
    long number = recordedTail.getAndSet(TAKEN);
    return number > 0 ? OptionalLong.of(number) : OptionalLong.empty();
  }
}
