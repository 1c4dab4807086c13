package dev.holdfast.relay.tail;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.retry.Backoff;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Reads a stream for one {@link Tail}: as much at once as there is room for, and past a store that
 * is away for a moment. Owned by the thread of its tail.
 */
public final class PageReader {

  /** The most events that are read at once: enough for a burst to go out in few writes. */
  private static final int PAGE = 500;

  /** Bytes that a tail reads at once when it has the room to itself. */
  static final long LARGEST = 1 << 20;

  /** Bytes that a tail reads at once however many others do: about what a socket takes. */
  static final long SMALLEST = 32 << 10;

  /** Fraction of the heap for all pages: frames and buffers on their way out need as much twice. */
  private static final int HEAP_FRACTION = 24;

  /** Read before it is known how large the events of the stream are. */
  static final int FIRST_PAGE = 128;

  /** How long a store may be away before the client of a stream from elsewhere is sent there. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final EventLog log;
  private final StreamRef stream;

  /** What was read before anybody asked. */
  private @Nullable ReadResult ahead;

  /** How large an event is on the wire, as far as is known; 0 before the first. */
  private int eventBytes;

  PageReader(EventLog log, StreamRef stream) {
    this.log = log;
    this.stream = stream;
  }

  /** The budget of pages that all tails share. */
  public static ByteBudget pages() {
    return ByteBudget.ofHeap(HEAP_FRACTION, Long.MAX_VALUE);
  }

  /** What a tail does each time that the store is found to be away. */
  interface Meanwhile {

    /** Returns whether it is worth waiting for the store. */
    boolean goOn() throws ClientGoneException;
  }

  /**
   * Begins with what was read already. That there was nothing is not begun with: something may have
   * come before the stream is watched, and would not wake the tail.
   */
  void beginWith(ReadResult first) {
    boolean nothing = first instanceof ReadResult.Events events && events.events().isEmpty();
    ahead = nothing ? null : first;
  }

  /**
   * Reads on.
   *
   * @param after the last event that was read
   * @param room for so many bytes of events
   * @throws StoreUnavailableException when it is away for too long
   */
  ReadResult read(Position after, long room, Meanwhile meanwhile)
      throws ClientGoneException, InterruptedException {
    if (ahead != null) {
      ReadResult first = ahead;
      ahead = null;
      return first;
    }
    long since = System.nanoTime();
    for (Backoff backoff = Backoff.STORE; ; backoff = backoff.next()) {
      try {
        return log.read(stream, after, pageOf(room));
      } catch (StoreUnavailableException away) {
        if (isTooLong(since) || !meanwhile.goOn()) {
          throw away;
        }
        Thread.sleep(backoff.delay());
      }
    }
  }

  private int pageOf(long room) {
    return eventBytes == 0 ? FIRST_PAGE : Math.clamp(room / eventBytes, 1, PAGE);
  }

  /** Where the stream is written, the client is sent nowhere: there is no better place for it. */
  private boolean isTooLong(long since) {
    return System.nanoTime() - since > PATIENCE.toNanos() && !log.isWrittenHere(stream);
  }

  /** Is told how large events have turned out to be. */
  void sized(int events, int bytes) {
    eventBytes = Math.ceilDiv(bytes, events);
  }
}
