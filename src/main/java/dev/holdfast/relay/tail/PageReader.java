package dev.holdfast.relay.tail;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.retry.Backoff;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads pages of a stream for one {@link Tail}, as large as the room for them allows, and retries
 * while the store is away. Owned by the thread of the tail.
 */
public final class PageReader {

  /** Bytes that a tail reads at once when it has the room to itself. */
  static final long LARGEST = 1 << 20;

  /** Bytes that a tail reads at once however many others do: about what a socket takes. */
  static final long SMALLEST = 32 << 10;

  /** Fraction of the heap for all pages: frames and buffers on their way out need as much twice. */
  private static final int HEAP_FRACTION = 24;

  /** Events of the page that is read before the tail starts. */
  static final int FIRST_PAGE = 128;

  /** Time for which the tail of a stream that another replica writes waits for the store. */
  private static final Duration MAX_OUTAGE = Duration.ofSeconds(5);

  /** Waits for the bytes of a large event. Other clients may read theirs soon. */
  private static final Backoff ROOM = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(2));

  private final EventLog log;
  private final StreamRef stream;
  private final ByteBudget pages;

  /** A page that was read before the tail started. */
  private @Nullable ReadResult ahead;

  /** Bytes that the next event needs beyond a page; zero while it fits into one. */
  private long needed;

  /** The next wait for these bytes. */
  private Backoff untilRoom = ROOM;

  PageReader(EventLog log, StreamRef stream, ByteBudget pages) {
    this.log = log;
    this.stream = stream;
    this.pages = pages;
  }

  /**
   * A page. Closing it gives back its bytes.
   *
   * @param result null if the next event is large, and too many bytes wait for slow clients
   */
  record Page(@Nullable ReadResult result, Runnable release) implements AutoCloseable {
    @Override
    public void close() {
      release.run();
    }
  }

  /** The budget of pages that all tails share. */
  public static ByteBudget pages() {
    return ByteBudget.ofHeap(HEAP_FRACTION, Long.MAX_VALUE);
  }

  /** Work of a tail between two attempts to reach the store. */
  interface BetweenAttempts {

    /** Returns whether to try again. */
    boolean tryAgain() throws ClientGoneException;
  }

  /**
   * Uses a page that was already read. An empty page is read again: events may have come before the
   * tail watched the stream, and would not wake it. So is a large event, to count its bytes first.
   */
  void startWith(ReadResult page) {
    boolean rereads =
        page instanceof ReadResult.Events(List<LogEvent> events)
            && (events.isEmpty() || bytes(events) > SMALLEST);
    ahead = rereads ? null : page;
  }

  /** The bytes of the payloads. */
  static long bytes(List<LogEvent> events) {
    long bytes = 0;
    for (LogEvent event : events) {
      bytes += event.payload().length;
    }
    return bytes;
  }

  /**
   * Reads the next page. A large event comes alone, and the client holds its bytes: many slow
   * clients could read large ones at a time.
   *
   * @param after the last event that was read
   * @throws LogException.StoreUnavailable when the store is away for too long
   */
  Page next(Position after, ClientConnection client, BetweenAttempts between)
      throws ClientGoneException, InterruptedException {
    if (needed > 0 && !client.tryHold(needed)) {
      return new Page(null, () -> {});
    }
    long room = pages.takeShare(SMALLEST, LARGEST);
    Runnable release =
        () -> {
          pages.giveBack(room);
          client.giveBack();
        };
    try {
      ReadResult result = read(after, room, between);
      return new Page(isHeld(result, room, client) ? result : null, release);
    } catch (Throwable failure) {
      release.run();
      throw failure;
    }
  }

  private boolean isHeld(ReadResult result, long room, ClientConnection client) {
    if (result instanceof ReadResult.Events(List<LogEvent> events) && !events.isEmpty()) {
      long missing = bytes(events) - room - needed;
      if (missing > 0 && !client.tryHold(missing)) {
        needed += missing;
        return false;
      }
      needed = 0;
      untilRoom = ROOM;
    }
    return true;
  }

  /**
   * Reads a complete stream that has one small event only. Returns null for another one, and while
   * the store is away.
   */
  @Nullable LogEvent single() {
    ReadResult page;
    try {
      page = log.read(stream, Position.START, FIRST_PAGE, SMALLEST);
    } catch (LogException.StoreUnavailable away) {
      return null; // The tail tries again.
    }
    startWith(page);
    return ahead instanceof ReadResult.Events(List<LogEvent> events)
            && events.size() == 1
            && events.getFirst().last()
            && events.getFirst().payload().length > 0
        ? events.getFirst()
        : null;
  }

  /** Returns true if the last page is missing, because its event is large. */
  boolean needsRoom() {
    return needed > 0;
  }

  /** The time to wait before the next attempt to read a large event. */
  Duration untilRoom() {
    Duration wait = untilRoom.delay();
    untilRoom = untilRoom.next();
    return wait;
  }

  private ReadResult read(Position after, long room, BetweenAttempts between)
      throws ClientGoneException, InterruptedException {
    if (ahead != null) {
      ReadResult first = ahead;
      ahead = null;
      return first;
    }
    long since = System.nanoTime();
    for (Backoff backoff = Backoff.STORE; ; backoff = backoff.next()) {
      try {
        return log.read(stream, after, EventLog.PAGE_EVENTS, room);
      } catch (LogException.StoreUnavailable away) {
        if (isTooLong(since) || !between.tryAgain()) {
          throw away;
        }
        Thread.sleep(backoff.delay());
      }
    }
  }

  /**
   * A tail on the replica that writes the stream waits for ever: no other replica serves better.
   */
  private boolean isTooLong(long since) {
    return System.nanoTime() - since > MAX_OUTAGE.toNanos() && !log.isWrittenHere(stream);
  }
}
