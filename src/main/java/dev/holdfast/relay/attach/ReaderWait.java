package dev.holdfast.relay.attach;

import dev.holdfast.log.CallIndex;
import dev.holdfast.log.CallIndex.Entry;
import dev.holdfast.log.StreamRef;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Wait of a repeated call for the reader of the first one. A connection may be cut before the
 * gateway notices it, and a replica may be lost before the others know it. For one thread.
 */
final class ReaderWait {

  /** Time after which a reader on a live replica counts as connected. */
  private static final Duration CONNECTED = Duration.ofSeconds(1);

  /** The same before its response has begun, on a replica that is slow. */
  private static final Duration STARTED = Duration.ofSeconds(10);

  /** Time that a replica needs to notice a loss, beyond the silence. */
  private static final Duration MARGIN = Duration.ofSeconds(1);

  private static final Duration PAUSE = Duration.ofMillis(20);

  private final CallIndex index;
  private final Predicate<StreamRef> isFollowed;
  private @Nullable Entry waitsFor;
  private long since;

  /** The next step of a repeated call. */
  enum Next {
    ATTACH,
    EXECUTE,
    /** Look at the entry again. */
    WAIT
  }

  ReaderWait(CallIndex index, Predicate<StreamRef> isFollowed) {
    this.index = index;
    this.isFollowed = isFollowed;
  }

  /** Decides about the first call. Waits before it returns {@link Next#WAIT}. */
  Next next(Entry first) {
    if (!first.equals(waitsFor)) {
      waitsFor = first;
      since = System.nanoTime();
    }
    Duration waited = Duration.ofNanos(System.nanoTime() - since);
    if (first.isFree()) {
      if (!isFollowed.test(first.stream())) {
        return Next.ATTACH;
      }
      // The replica of a client that has resumed the stream may be lost, too.
      Duration most = CONNECTED.plus(index.deadAfter());
      return waited.compareTo(most) < 0 ? pause() : Next.EXECUTE;
    }
    Optional<Duration> silence = index.silence(first.replica());
    if (silence.isEmpty()) {
      return Next.ATTACH;
    }
    // The replica has sent a heartbeat since the call arrived, so the reader is connected.
    boolean heard = silence.get().compareTo(waited) < 0 || index.deadAfter().isZero();
    Duration least = first.isStarting() ? STARTED : CONNECTED;
    boolean isOver = waited.compareTo(least) >= 0 && heard;
    Duration most = least.plus(index.deadAfter()).plus(MARGIN);
    return isOver || waited.compareTo(most) > 0 ? Next.EXECUTE : pause();
  }

  private static Next pause() {
    try {
      Thread.sleep(PAUSE);
      return Next.WAIT;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return Next.EXECUTE;
    }
  }
}
