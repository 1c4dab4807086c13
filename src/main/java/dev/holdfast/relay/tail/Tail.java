package dev.holdfast.relay.tail;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.budget.LogRate;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.StreamListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.retry.Backoff;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One reader of a stream: a cursor and a connection. It reads the events after the cursor, writes
 * them to the client and, when there are none, waits for a wake-up. Replay and live following are
 * the same loop.
 *
 * <p>A tail that waits has no thread: the end of the wait starts one. While it waits at the head of
 * the log, the thread of the writer delivers the events that it has appended, see {@link
 * #deliverAtHead}.
 */
public final class Tail implements Tails.Movable {

  private static final Logger LOG = Logger.getLogger(Tail.class);
  private static final LogRate GAPS = new LogRate(Duration.ofMillis(100));
  private static final LogRate RESUMES = new LogRate(Duration.ofMillis(100));

  /** The last event goes out together with the end of the response, up to this many bytes. */
  private static final int END_WITH_RESPONSE = 16 * 1024;

  /** Upper bound of one wait, in case a wake-up from another replica was lost. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(10);

  /** The end of a stream that lived longer is kept as if nobody had been sent it. */
  private static final Duration SHORT_CALL = Duration.ofSeconds(10);

  /** Waits for the bytes of a large event. Other clients may read theirs soon. */
  private static final Backoff ROOM = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(2));

  private final Context context;
  private final StreamRef stream;
  private final EventFraming framing;
  private final Kind kind;
  private final StreamListener listener;
  private final Runnable inUse;
  private final TailSignal signal = new TailSignal(this::deliverAtHead, this::requested);
  private final SseWriter frames = new SseWriter();
  private final ClientWriter writer;
  private final PageReader reader;

  /** Null while traces are off. */
  private final TraceListener.@Nullable Reading reading;

  private final BooleanSupplier resumes;

  /** Set by any thread, as the next field is. */
  private volatile boolean moving;

  private volatile boolean leaving;

  private volatile boolean expired;

  /** Held by the thread that reads and writes. It owns all fields below. */
  private final AutoLock turn = new AutoLock();

  /** The client, while the tail waits at the head of the log. */
  private @Nullable ClientConnection waiting;

  /** Null before the tail runs, and after its end. */
  private EventLog.@Nullable Watch watch;

  private Position cursor;
  private int replayed;
  private boolean behind = true;
  private boolean complete;

  /** Whether the stream is complete or gone. */
  private boolean streamOver;

  private final AwaitedRequests awaited;

  /** Bytes that the next event needs beyond a page; zero while it fits into one. */
  private long needed;

  /** The next wait for these bytes. */
  private Backoff untilRoom = ROOM;

  /** Whether the newest event is not in the log, so that the client cannot resume after it. */
  private boolean pastLog;

  /**
   * What all tails of a replica share.
   *
   * @param config timeouts of connections
   * @param onGap what happens when events were purged
   * @param tails the tails that run
   * @param pages the bytes that tails may read ahead of their clients
   * @param clock tells how long an event was under way
   * @param traces null while traces are off
   */
  public record Context(
      EventLog log,
      StreamConfig config,
      ReplayConfig.OnGap onGap,
      RelayListener listener,
      Tails tails,
      ByteBudget pages,
      InstantSource clock,
      @Nullable TraceListener traces) {}

  /** What a tail does next. */
  private enum Next {
    /** Read the next page. */
    READ,
    /** Leave the thread, and continue on another one when the wait ends. */
    WAIT,
    END
  }

  /** The first step on a thread. */
  private interface Step {
    Next run() throws ClientGoneException, InterruptedException;
  }

  /** Where the cursor of a tail comes from. */
  public enum Kind {
    /** A request: the tail begins at the start of the stream. */
    REQUEST,
    /** {@code Last-Event-ID}: the client has the cursor. */
    RESUMED,
    /** A plain GET: the client has no cursor and gets the events that were not delivered yet. */
    STANDALONE,
    /** A GET with an unreadable cursor: the client gets all events of the log. */
    FROM_START
  }

  /**
   * Creates a tail after a cursor.
   *
   * @param listener receives delays
   * @param inUse runs from time to time while the tail follows
   * @param resumes whether the client will resume a stream that this replica closes
   */
  public Tail(
      Context context,
      StreamRef stream,
      EventFraming framing,
      Position cursor,
      Kind kind,
      StreamListener listener,
      Runnable inUse,
      BooleanSupplier resumes) {
    this.context = context;
    this.stream = stream;
    this.framing = framing;
    this.cursor = cursor;
    this.kind = kind;
    this.listener = listener;
    this.inUse = inUse;
    this.resumes = resumes;
    this.awaited = new AwaitedRequests(framing.endpoint() != null);
    this.writer = new ClientWriter(context.config(), this::shouldEnd, this::isAwaited);
    this.reader = new PageReader(context.log(), stream);
    TraceListener traces = context.traces();
    this.reading = traces == null ? null : traces.reading(stream, cursor, kind == Kind.RESUMED);
  }

  /** Uses a page that was already read after the cursor. */
  Tail startingWith(ReadResult page) {
    reader.startWith(page);
    return this;
  }

  /** Gives the requests errors if the store loses the stream, so that nobody waits. */
  Tail answering(List<RequestId> requests) {
    awaited.begin(requests);
    return this;
  }

  /** Whether the client awaits a response here. It awaits none on streams that answer nothing. */
  private boolean isAwaited() {
    return framing.endpoint() == null ? StreamNames.areForRequests(stream.name()) : awaited.isAny();
  }

  private void requested(String requests) {
    awaited.begin(RequestId.parse(requests));
  }

  @Override
  public StreamRef stream() {
    return stream;
  }

  /**
   * Follows the stream until it is complete, the client is gone, a newer tail takes its place, or
   * the connection is too old. Then closes the connection. Returns when the tail has ended, or when
   * it waits: it continues on virtual threads.
   */
  public void run(ClientConnection client) {
    context.listener().connectionOpened();
    client.onGone(signal::gone);
    context.tails().add(this);
    run(client, this::begin);
  }

  private void run(ClientConnection client, Step first) {
    Next next = Next.END;
    try (var _ = turn.hold()) {
      next = follow(client, first);
      if (next == Next.END) {
        end(client);
      }
    } catch (ClientGoneException gone) {
      LOG.tracef("client is gone stream=%s", stream);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Throwable unexpected) {
      LOG.errorf(unexpected, "tail failed unexpectedly stream=%s", stream);
    } finally {
      if (next != Next.WAIT) {
        close(client);
      }
    }
  }

  private Next follow(ClientConnection client, Step first)
      throws ClientGoneException, InterruptedException {
    try {
      Next next = first.run();
      while (next == Next.READ) {
        next = step(client);
      }
      return next;
    } catch (LogException.StoreUnavailable away) {
      // The client resumes with its cursor later. The opening frame, which may give it the cursor,
      // is sent in any case.
      LOG.debugf("tail ended, the store is away stream=%s: %s", stream, away.getMessage());
      framing.closing(frames, context.config().retry());
      return Next.END;
    }
  }

  private Next begin() {
    framing.opening(frames, cursor, context.config().retry());
    Position from = kind == Kind.STANDALONE ? null : cursor;
    EventLog.Watch begun = context.log().watch(stream, from, signal);
    watch = begun;
    if (kind == Kind.RESUMED || framing.endpoint() != null) {
      awaited.resume(RequestId.parse(begun.requests()), context.log(), stream, cursor);
    }
    if (kind == Kind.STANDALONE) {
      // The tail that was just evicted may have delivered more since this tail was created.
      Position delivered = context.log().deliveredUpTo(stream);
      cursor = cursor.compareTo(delivered) < 0 ? delivered : cursor;
      advanced(0);
    }
    return Next.READ;
  }

  private void end(ClientConnection client) throws ClientGoneException {
    endWatch();
    if (frames.length() > 0) {
      client.end(frames.take());
    }
    if (complete) {
      // A socket that took the end is no proof that the client has it.
      boolean keep = kind != Kind.REQUEST || writer.age().compareTo(SHORT_CALL) > 0;
      context.log().markFullyDelivered(stream, keep);
    }
  }

  private void endWatch() {
    waiting = null;
    if (watch != null) {
      if (!streamOver) {
        watch.leave();
      }
      watch.close();
      watch = null;
    }
  }

  private void close(ClientConnection client) {
    try (var _ = turn.hold()) {
      endWatch();
    } finally {
      client.end();
      context.tails().remove(this);
      context.listener().connectionClosed();
      if (reading != null) {
        reading.ended(replayed, cursor);
      }
    }
  }

  /** Reads one page and handles it. */
  private Next step(ClientConnection client) throws ClientGoneException, InterruptedException {
    if (needed > 0 && !client.tryHold(needed)) {
      return awaitRoom(client);
    }
    long room = context.pages().takeShare(PageReader.SMALLEST, PageReader.LARGEST);
    try {
      ReadResult page = reader.read(cursor, room, () -> waitForStore(client));
      // An evicted tail ends even if it never has to wait: an event goes to one connection only.
      if (signal.isEnding()) {
        return await(client, Duration.ZERO);
      }
      switch (page) {
        case ReadResult.Events(List<LogEvent> events) when events.isEmpty() -> {}
        case ReadResult.Events(List<LogEvent> events) -> {
          long missing = PageReader.bytes(events) - room - needed;
          if (missing > 0 && !client.tryHold(missing)) {
            // Without holding the event: many slow clients could read large ones at a time.
            needed += missing;
          } else {
            needed = 0;
            untilRoom = ROOM;
            return deliver(events, client);
          }
        }
        case ReadResult.Gap gap -> {
          return skip(gap);
        }
        case ReadResult.EndOfStream _ -> {
          streamOver = true;
          return Next.END;
        }
        case ReadResult.NoSuchStream _ -> {
          streamOver = true;
          awaited.streamLost().forEach(error -> framing.unlogged(frames, error));
          return Next.END;
        }
      }
    } finally {
      context.pages().giveBack(room);
      client.giveBack();
    }
    return needed > 0 ? awaitRoom(client) : pause(client);
  }

  /** The client reads a large event later, when less waits for clients that do not read. */
  private Next awaitRoom(ClientConnection client) throws ClientGoneException {
    if (movedAway(false)) {
      return Next.END;
    }
    writer.flush(client, frames);
    Duration wait = untilRoom.delay();
    untilRoom = untilRoom.next();
    return await(client, wait);
  }

  /** Keeps the connection alive while the store is away; returns whether to try again. */
  private boolean waitForStore(ClientConnection client) throws ClientGoneException {
    if (shouldEnd() || writer.isOver()) {
      return false;
    }
    commentIfSilent();
    writer.flush(client, frames);
    return true;
  }

  private void commentIfSilent() {
    if (writer.isSilent()) {
      frames.comment("");
    }
  }

  private Next deliver(List<LogEvent> events, ClientConnection client) throws ClientGoneException {
    events.forEach(event -> framing.event(frames, event));
    LogEvent newest = events.getLast();
    if (!newest.last() || frames.length() > END_WITH_RESPONSE) {
      writer.flush(client, frames);
    }
    replayed += behind ? events.size() : 0;
    delivered(events);
    if (stream.name().equals(StreamNames.STANDALONE)) {
      context.log().markDelivered(stream, cursor);
    }
    if (newest.last()) {
      caughtUp();
      complete = true;
      streamOver = true;
    }
    // Checked here too, because a busy stream may never pause.
    return !newest.last() && !movedAway(false) && mayContinue() ? Next.READ : Next.END;
  }

  /**
   * Delivers events on the thread that has just appended them, which spares the tail a thread. Does
   * not block: all that may happens on a thread of the tail.
   *
   * @return false if the tail must read the events
   */
  private boolean deliverAtHead(Position before, List<LogEvent> events) {
    if (!turn.tryLock()) {
      return false;
    }
    ClientConnection client = waiting;
    try {
      if (client == null
          || !before.equals(cursor)
          || !isDeliveredAtHead(events)
          || !writer.hasTaken(client)) {
        return false;
      }
      events.forEach(event -> framing.event(frames, event));
      writer.writeNow(client, frames);
      delivered(events);
      return true;
    } catch (Throwable failure) {
      // The append has succeeded, so the writer must not see this. The client resumes.
      LOG.debugf(failure, "tail failed stream=%s", stream);
      Objects.requireNonNull(client).abort();
      return false;
    } finally {
      turn.unlock();
    }
  }

  /** Whether delivering the events needs nothing but one write. */
  private boolean isDeliveredAtHead(List<LogEvent> events) {
    return !events.getLast().last()
        && PageReader.bytes(events) <= PageReader.SMALLEST
        && !stream.name().equals(StreamNames.STANDALONE)
        && !shouldEnd();
  }

  private void delivered(List<LogEvent> events) {
    LogEvent newest = events.getLast();
    cursor = newest.position();
    pastLog = !newest.logged();
    awaited.delivered(events);
    advanced(PageReader.bytes(events));
    writer.delivered();
    context.listener().delivered(events.size());
    if (newest.logged() && (kind == Kind.REQUEST || !behind)) {
      long written = events.getFirst().position().millis();
      long delay = Math.max(0, context.clock().millis() - written);
      listener.deliveredLive(Duration.ofMillis(delay));
    }
  }

  private void advanced(long bytes) {
    if (watch != null) {
      watch.advanced(cursor, bytes);
    }
  }

  /** There is nothing to read: sends what is buffered and waits. */
  private Next pause(ClientConnection client) throws ClientGoneException {
    caughtUp();
    if (movedAway(leaving)) {
      return Next.END;
    }
    writer.flush(client, frames);
    Duration wait = writer.untilNextDeadline();
    waiting = client;
    return await(client, wait.compareTo(MAX_WAIT) < 0 ? wait : MAX_WAIT);
  }

  private Next await(ClientConnection client, Duration most) throws ClientGoneException {
    TailSignal.Cause already =
        signal.await(most, cause -> run(client, () -> continueAfter(cause, client)));
    return already == null ? Next.WAIT : continueAfter(already, client);
  }

  private Next continueAfter(TailSignal.Cause cause, ClientConnection client)
      throws ClientGoneException {
    waiting = null;
    writer.settle(client);
    return switch (cause) {
      case WOKEN -> Next.READ;
      case TIMED_OUT -> {
        boolean continues = mayContinue();
        if (continues) {
          commentIfSilent();
        }
        yield continues ? Next.READ : Next.END;
      }
      case GONE -> Next.END;
      case EVICTED -> {
        Duration first = context.config().retry();
        framing.closing(frames, context.tails().retryAfterEviction(stream, writer.age(), first));
        yield Next.END;
      }
    };
  }

  @Override
  public boolean isResumed() {
    return kind == Kind.RESUMED;
  }

  @Override
  public void move() {
    moving = true;
    signal.wake();
  }

  /** Sends the client away, because its credentials have expired. It comes back with others. */
  public void expire() {
    expired = true;
    signal.wake();
  }

  @Override
  public void leave() {
    leaving = true;
    signal.wake();
  }

  private boolean movedAway(boolean anyway) {
    boolean moves = anyway || mayMove();
    if (moves) {
      framing.closing(frames, context.config().drainRetry());
    }
    return moves;
  }

  /**
   * Whether the client shall move and will resume elsewhere. A client that does not resume, or has
   * no event id, would lose its call with the connection. A client whose newest event is not in the
   * log would find a gap.
   */
  private boolean mayMove() {
    boolean standalone = stream.name().equals(StreamNames.STANDALONE);
    boolean goes = expired || (moving && (standalone || resumes.getAsBoolean()));
    return goes && !pastLog && (standalone || (framing.ids() && hasEventId()));
  }

  private boolean hasEventId() {
    return kind != Kind.REQUEST || framing.priming() || !cursor.equals(Position.START);
  }

  private boolean shouldEnd() {
    return mayMove() || signal.isEnding();
  }

  /** Notes that the session is in use; closes a connection that is too old. */
  private boolean mayContinue() {
    try {
      inUse.run();
    } catch (SessionStoreException away) {
      // The next read tells whether the log is away too.
      LOG.debugf("use of the session not noted stream=%s: %s", stream, away.getMessage());
    }
    if (writer.isOver()) {
      framing.closing(frames, context.config().retry());
      return false;
    }
    return true;
  }

  private Next skip(ReadResult.Gap gap) {
    context.listener().gap();
    logGap(stream, cursor);
    Position next = gap.resumeAfter().or(() -> context.log().beforeOldest(stream)).orElse(cursor);
    boolean hasOwnCursor = kind == Kind.REQUEST || kind == Kind.RESUMED;
    boolean continues =
        StreamNames.answersRequests(stream)
            ? next.number() >= cursor.number() // Else the client would get events twice.
            : context.onGap() == ReplayConfig.OnGap.CONTINUE;
    if (hasOwnCursor && !continues) {
      // The client resumes with its cursor and gets 410: here no status can be sent.
      framing.closing(frames, context.config().retry());
      return Next.END;
    }
    framing.gap(frames, cursor, next);
    if (next.equals(cursor)) {
      return Next.END;
    }
    cursor = next;
    advanced(0); // The writer must not wait for what is gone.
    return Next.READ;
  }

  static void logGap(StreamRef stream, Position after) {
    GAPS.log(
        LOG,
        Logger.Level.WARN,
        () -> "client told that events are gone stream=%s after=%s".formatted(stream, after));
  }

  private void caughtUp() {
    if (behind && kind == Kind.RESUMED) {
      listener.replayed(replayed, writer.age());
      RESUMES.log(
          LOG,
          Logger.Level.INFO,
          () -> "stream resumed stream=%s missed=%d".formatted(stream, replayed));
    }
    behind = false;
  }
}
