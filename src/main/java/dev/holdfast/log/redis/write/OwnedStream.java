package dev.holdfast.log.redis.write;

import dev.holdfast.log.ReaderWindow;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A stream that this replica writes. Opening a stream records this replica as its tail, so the
 * first local watcher needs no round trip.
 *
 * @param writer writes the stream
 * @param recent its newest events
 * @param window flow control of the connected reader
 * @param recordedTail {@link #FREE}, {@link #TAKEN}, or the number of the watcher that needed no
 *     round trip
 * @param opened by {@link System#nanoTime()}
 */
public record OwnedStream(
    RedisStreamWriter writer,
    RecentEvents recent,
    ReaderWindow window,
    AtomicLong recordedTail,
    long opened) {

  /** Time for which the recorded tail counts, in case an eviction is lost. */
  private static final long RELIABLE_FOR = Duration.ofSeconds(2).toNanos();

  private static final long FREE = 0;
  private static final long TAKEN = -1;

  /**
   * A stream that was just opened or adopted.
   *
   * @param isTail whether this replica is recorded as the stream's tail
   */
  static OwnedStream of(
      RedisStreamWriter writer, RecentEvents recent, ReaderWindow window, boolean isTail) {
    AtomicLong recordedTail = new AtomicLong(isTail ? FREE : TAKEN);
    return new OwnedStream(writer, recent, window, recordedTail, System.nanoTime());
  }

  /** Makes the watcher with this number the recorded tail. Succeeds for at most one watcher. */
  public boolean takeRecordedTail(long number) {
    return isReliable() && recordedTail.compareAndSet(FREE, number);
  }

  /**
   * Returns true if the first local watcher may still come. Meanwhile the stream counts as watched:
   * the answer to a call often precedes its tail, and that tail need not ask Redis.
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
