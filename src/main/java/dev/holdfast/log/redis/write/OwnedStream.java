package dev.holdfast.log.redis.write;

import dev.holdfast.log.ReaderWindow;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A stream that this replica writes. Opening a stream records this replica as its tail, so the
 * first local watcher needs no round trip.
 */
public final class OwnedStream {

  /** How long to rely on the recorded tail, in case an eviction is lost. */
  private static final long RELIABLE_FOR = Duration.ofSeconds(2).toNanos();

  private static final long FREE = 0;
  private static final long TAKEN = -1;

  private final RedisStreamWriter writer;
  private final RecentEvents recent;
  private final ReaderWindow window;
  private final long opened = System.nanoTime();

  /** {@link #FREE}, {@link #TAKEN}, or the number of the watcher that needed no round trip. */
  private final AtomicLong recordedTail;

  /**
   * @param isTail whether this replica is recorded as the stream's tail
   */
  OwnedStream(RedisStreamWriter writer, RecentEvents recent, ReaderWindow window, boolean isTail) {
    this.writer = writer;
    this.recent = recent;
    this.window = window;
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

  /** Flow control of the connected reader. */
  ReaderWindow window() {
    return window;
  }

  /** Makes the watcher with this number the recorded tail. Succeeds for at most one watcher. */
  public boolean takeRecordedTail(long number) {
    return isReliable() && recordedTail.compareAndSet(FREE, number);
  }

  /**
   * Whether the first local watcher may still come. Meanwhile the stream counts as watched: the
   * answer to a call often precedes its tail, and that tail need not ask Redis.
   */
  boolean isWatcherExpected() {
    return recordedTail.get() == FREE && isReliable();
  }

  private boolean isReliable() {
    return System.nanoTime() - opened < RELIABLE_FOR;
  }

  /**
   * Handles that another replica has become the recorded tail.
   *
   * @return the number of the watcher that took the recorded tail
   */
  public OptionalLong loseRecordedTail() {
    long number = recordedTail.getAndSet(TAKEN);
    return number > 0 ? OptionalLong.of(number) : OptionalLong.empty();
  }
}
