package dev.holdfast.held;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.seal.Seal;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of calls for those who have a handle, beside the clients that called: a reader
 * replaces no connection, delivers nothing to a client, and does not make the log keep events.
 * Thread-safe. Methods block, and throw as those of {@link EventLog} do.
 */
public final class CallReader {

  /** Time between two reads of a stream that another replica may write. */
  private static final Duration INTERVAL = Duration.ofMillis(500);

  /** Fraction of the heap for the pages of all readers. */
  private static final int HEAP_FRACTION = 24;

  /** Bytes that a reader reads at once however many others do. */
  private static final long SMALLEST = 32 << 10;

  private final EventLog log;
  private final BooleanSupplier draining;
  private final Seal seal;
  private final boolean on;
  private final ByteBudget pages = ByteBudget.ofHeap(HEAP_FRACTION, Long.MAX_VALUE);

  /**
   * Creates a reader.
   *
   * @param draining whether readers should go to another replica
   * @param on whether calls can be read at all
   */
  public CallReader(EventLog log, BooleanSupplier draining, Seal seal, boolean on) {
    this.log = log;
    this.draining = draining;
    this.seal = seal;
    this.on = on;
  }

  /** Result of a read. */
  public sealed interface Page {

    /**
     * The next messages.
     *
     * @param next the position from which the next page is read
     * @param upToDate whether there were no more messages at the time of the read
     * @param closed whether there will be no more
     */
    record Messages(List<byte[]> messages, Position next, boolean upToDate, boolean closed)
        implements Page {

      /** Copies the list. */
      public Messages {
        messages = List.copyOf(messages);
      }

      /** Returns true if a reader that waits learns nothing. */
      public boolean isNothing() {
        return messages.isEmpty() && !closed;
      }
    }

    /**
     * The next messages are no longer kept.
     *
     * @param rest the position from which the kept messages are read; null if there are none
     */
    record Purged(@Nullable Position rest) implements Page {}

    /** There is no such call, or none of it is kept. */
    record Unknown() implements Page {}
  }

  /** Returns true if calls can be read. */
  public boolean isOn() {
    return on;
  }

  /** Returns true while this replica drains: readers should go to another one. */
  public boolean isDraining() {
    return draining.getAsBoolean();
  }

  /**
   * Returns the handle of a call; empty if calls cannot be read, or the body is no call.
   *
   * @param stream the stream that answers the body
   */
  public Optional<String> handle(
      String upstream, Principal principal, Body body, StreamRef stream) {
    boolean isCall =
        on
            && body instanceof Body.Single(Message.Request request)
            && request.method().equals(Methods.TOOLS_CALL)
            && StreamNames.answersRequests(stream);
    return isCall
        ? Optional.of(CallHandle.of(stream).seal(seal, principal, upstream))
        : Optional.empty();
  }

  /**
   * Finds the stream of a call; empty if the handle is forged, has expired or is for somebody else.
   */
  public Optional<StreamRef> find(String upstream, Principal principal, String handle) {
    return CallHandle.open(seal, handle, principal, upstream)
        .map(CallHandle::start)
        .map(start -> {
          SessionId session = Objects.requireNonNull(start.session());
          return new StreamRef(StreamNames.key(session), start.stream());
        });
  }

  /** Reads the messages after a position: at most {@link EventLog#PAGE_BYTES}, or one message. */
  public Page read(StreamRef stream, Position after) {
    long room = pages.takeShare(SMALLEST, EventLog.PAGE_BYTES);
    try {
      return switch (log.readStored(stream, after, EventLog.PAGE_EVENTS, room)) {
        case ReadResult.Events(List<LogEvent> events) -> page(stream, after, events);
        case ReadResult other -> withoutMessages(other, after);
      };
    } finally {
      pages.giveBack(room);
    }
  }

  private Page page(StreamRef stream, Position after, List<LogEvent> events) {
    Position next = events.isEmpty() ? after : events.getLast().position();
    boolean closed = !events.isEmpty() && events.getLast().last();
    boolean more = !events.isEmpty() && !closed && hasMore(stream, next);
    // The event at the end of a cancelled call has no message.
    List<byte[]> messages =
        events.stream().map(LogEvent::payload).filter(payload -> payload.length > 0).toList();
    return new Page.Messages(messages, next, !more, closed);
  }

  private boolean hasMore(StreamRef stream, Position after) {
    return !(log.readStored(stream, after, 1, 1) instanceof ReadResult.Events(List<LogEvent> rest))
        || !rest.isEmpty();
  }

  /** Finds the end of a stream as it is now. The result has no messages. */
  public Page end(StreamRef stream) {
    Position newest = log.newest(stream).orElse(Position.START);
    return withoutMessages(log.readStored(stream, newest, 1, 1), newest);
  }

  private static Page withoutMessages(ReadResult result, Position at) {
    return switch (result) {
      case ReadResult.Events _ -> new Page.Messages(List.of(), at, true, false);
      case ReadResult.EndOfStream _ -> new Page.Messages(List.of(), at, true, true);
      case ReadResult.Gap gap -> new Page.Purged(gap.resumeAfter().orElse(null));
      case ReadResult.NoSuchStream _ -> new Page.Unknown();
    };
  }

  /** Begins to follow a stream. */
  public Follower follow(StreamRef stream) {
    return new Follower(stream);
  }

  /** Waits for messages of one stream. Used by one thread; {@link #stop} by any. */
  public final class Follower implements EventLog.Watcher, AutoCloseable {

    private final StreamRef stream;
    private final Semaphore woken = new Semaphore(0);
    private final EventLog.Watch watch;
    private volatile boolean stopped;

    private Follower(StreamRef stream) {
      this.stream = stream;
      this.watch = log.watchShared(stream, this);
    }

    /**
     * Reads the messages after a position, and waits for them.
     *
     * @param most time to wait; less if this replica drains, or after {@link #stop}
     */
    public Page next(Position after, Duration most) throws InterruptedException {
      long end = System.nanoTime() + most.toNanos();
      while (true) {
        int _ = woken.drainPermits();
        Page page = read(stream, after);
        boolean waits = page instanceof Page.Messages messages && messages.isNothing();
        long left = end - System.nanoTime();
        if (!waits || left <= 0 || stopped || isDraining()) {
          return page;
        }
        boolean _ = woken.tryAcquire(Math.min(left, INTERVAL.toNanos()), TimeUnit.NANOSECONDS);
      }
    }

    /** Ends a wait, and lets further calls not wait. */
    public void stop() {
      stopped = true;
      wake();
    }

    @Override
    public void wake() {
      if (woken.availablePermits() == 0) {
        woken.release();
      }
    }

    @Override
    public void evicted() {
      // Nobody evicts those that share a stream.
    }

    @Override
    public void close() {
      watch.close();
    }
  }
}
