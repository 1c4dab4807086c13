package dev.holdfast.relay.tail;

import dev.holdfast.budget.LogRate;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.PendingRequests;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.stream.TraceListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Events that the client of one {@link Tail} has received, of which the log hears. The turn of the
 * tail guards all fields.
 */
final class Delivery {

  private static final Logger LOG = Logger.getLogger(Delivery.class);
  private static final LogRate RESUMES = new LogRate(Duration.ofMillis(100));

  /** The last event goes out together with the end of the response, up to this many bytes. */
  private static final int END_WITH_RESPONSE = 16 * 1024;

  /** The end of a stream that lived longer is kept as if nobody had been sent it. */
  private static final Duration SHORT_CALL = Duration.ofSeconds(10);

  private final TailContext context;
  private final StreamRef stream;
  private final ClientFrames frames;
  private final TailKind kind;
  private final StreamListener listener;
  private final ClientWriter writer;

  /** True for a stream that keeps the events of all streams of a session. */
  private final boolean shared;

  /**
   * Requests whose responses the client awaits. If the store loses the stream, each gets an error.
   */
  private final PendingRequests awaited = new PendingRequests(List.of());

  private final boolean standalone;
  private final Instant began;
  private Position cursor;

  /** The id that the upstream gave the event at the cursor; null if it is unknown. */
  private @Nullable String upstreamId;

  private int replayed;
  private CallListener.Call call = CallListener.Call.NONE;
  private Place place = Place.BEHIND;

  /** Null while traces are off. */
  private final TraceListener.@Nullable Reading reading;

  /** {@link Receipt#NONE} if nobody asks, or once it was told. */
  private Receipt receipt = Receipt.NONE;

  /** Null before the tail runs, and after its end. */
  private EventLog.@Nullable Watch watch;

  /** The place of the client on the stream. It only goes forward. */
  private enum Place {
    /** The client lacks events that are in the log. */
    BEHIND,
    /** The client has all events of an open stream, or had them a moment ago. */
    AT_HEAD,
    /** The client was sent the last event of the stream. */
    COMPLETE,
    /** The log keeps no further events of the stream. */
    GONE
  }

  Delivery(
      TailContext context,
      StreamRef stream,
      ClientFrames frames,
      Position cursor,
      TailKind kind,
      StreamListener listener,
      BooleanSupplier shouldEnd,
      BooleanSupplier resumes) {
    this.context = context;
    this.stream = stream;
    this.frames = frames;
    this.cursor = cursor;
    this.kind = kind;
    this.listener = listener;
    this.writer =
        new ClientWriter(
            context.config(),
            shouldEnd,
            this::isAwaited,
            () -> isAwaited() && !(resumes.getAsBoolean() && isResumable()));
    this.shared = frames.namesEndpoint();
    this.began = context.clock().instant();
    TraceListener traces = context.traces();
    this.reading = traces == null ? null : traces.reading(stream, cursor, kind == TailKind.RESUMED);
    this.standalone = stream.name().equals(StreamNames.STANDALONE) && kind != TailKind.SHARED;
  }

  ClientWriter writer() {
    return writer;
  }

  /** Tells the outcome of the response. Called before the tail runs. */
  void report(Receipt to) {
    receipt = to;
  }

  /**
   * Notes that the client gets the only event of a stream without a loop.
   *
   * @return false if somebody waits for the delivery of this response. That of an error is not told
   */
  boolean givesAway(LogEvent single) {
    if (!receipt.equals(Receipt.NONE) && JsonEdit.raw(single.payload(), "error") == null) {
      return false;
    }
    receipt.delivered();
    receipt = Receipt.NONE;
    context.delivered(stream, false);
    context.listener().delivered(1);
    if (reading != null) {
      reading.ended(0, single.position());
    }
    return true;
  }

  /** Notes that the response has ended, or that the client has left before. */
  void closed(boolean left) {
    if (!left && frames.isHandedOver()) {
      receipt.delivered();
    } else {
      receipt.left();
    }
    receipt = Receipt.NONE;
    frames.closed(left);
    if (reading != null) {
      reading.ended(replayed, cursor);
    }
  }

  /** Notes that the client awaits responses. Any thread may call this. */
  void await(List<RequestId> requests) {
    awaited.add(requests);
  }

  /** Returns true if the client awaits a response here. Some streams answer nothing. */
  private boolean isAwaited() {
    return shared ? awaited.size() > 0 : StreamNames.areForRequests(stream.name());
  }

  /** The last event that the client has. */
  Position cursor() {
    return cursor;
  }

  /** Begins with the first frame, and watches the stream. */
  void begin(EventLog.Watcher watcher) {
    frames.open(cursor, context.config().retry());
    Position from = kind == TailKind.STANDALONE ? null : cursor;
    watch =
        kind == TailKind.SHARED
            ? context.log().watchShared(stream, watcher)
            : context.log().watch(stream, from, watcher);
    call = context.listener().calls().connected(stream, cursor.number() > 0);
    frames.begin();
    if (kind == TailKind.RESUMED || shared) {
      List<RequestId> open = RequestId.parse(watch.requests());
      awaited.add(open);
      frames.requests(open);
    }
    if (kind == TailKind.RESUMED && !shared) {
      awaited.removeAnswered(context.log(), stream, cursor);
    }
    if (kind == TailKind.STANDALONE) {
      // The tail that was just evicted may have delivered more since this tail was created.
      Position delivered = context.log().deliveredUpTo(stream);
      cursor = cursor.compareTo(delivered) < 0 ? delivered : cursor;
      advanced(0);
    }
  }

  /** Writes the last frames with the end of the response. */
  void end(ClientConnection client) throws ClientGoneException {
    EventLog.Watch ended = watch;
    endWatch();
    try {
      if (frames.isHandedOver() && !receipt.equals(Receipt.NONE)) {
        flush(client);
      }
      if (frames.written().length() > 0) {
        client.end(frames.written().take());
      }
    } catch (ClientGoneException gone) {
      leave(ended); // It does not have the end.
      throw gone;
    }
    if (place == Place.COMPLETE) {
      // A socket that took the end is no proof that the client has it.
      Duration life = Duration.between(began, context.clock().instant());
      context.delivered(stream, kind != TailKind.REQUEST || life.compareTo(SHORT_CALL) > 0);
      boolean wasThere = cursor.millis() < began.toEpochMilli();
      if (kind != TailKind.REQUEST && wasThere && StreamNames.answersRequests(stream)) {
        listener.result(StreamListener.Result.LATE);
      }
      receipt.delivered();
      receipt = Receipt.NONE;
    }
  }

  void endWatch() {
    if (watch != null && place != Place.COMPLETE) {
      leave(watch);
    } else if (watch != null) {
      watch.close();
    }
    watch = null;
    call.left();
    call = CallListener.Call.NONE;
  }

  private void leave(EventLog.@Nullable Watch left) {
    if (left != null) {
      left.leave(StreamNames.areForRequests(stream.name()));
      left.close();
    }
  }

  /** Notes that the log keeps no further events of the stream. */
  void streamGone() {
    place = Place.GONE;
    frames.streamEnded();
  }

  /** Notes that the log has lost the stream: adds an error for each request without a response. */
  void streamLost() {
    frames.streamLost(cursor, awaited.open());
    streamGone();
  }

  /** Writes all frames and waits until the socket has taken them. */
  void flush(ClientConnection client) throws ClientGoneException {
    writer.flush(client, frames.written());
  }

  /** Delivers events, and waits until the socket has taken them. Their end may go out later. */
  void deliver(List<LogEvent> events, ClientConnection client) throws ClientGoneException {
    boolean last = events.getLast().last();
    events.forEach(event -> frames.event(cursor, event));
    if (last) {
      frames.streamEnded();
    }
    if (!last || frames.written().length() > END_WITH_RESPONSE || !receipt.equals(Receipt.NONE)) {
      flush(client);
    }
    delivered(events);
    if (standalone) {
      context.log().markDelivered(stream, cursor);
    }
    if (last) {
      logResumed();
      place = Place.COMPLETE;
    }
  }

  /**
   * Delivers events without a wait.
   *
   * @return false if that needs more than one write; nothing was delivered
   */
  boolean deliverNow(Position before, List<LogEvent> events, ClientConnection client)
      throws ClientGoneException {
    if (standalone
        || !frames.areUntouched()
        || !before.equals(cursor)
        || events.getLast().last()
        || PageReader.bytes(events) > PageReader.SMALLEST
        || !writer.hasTaken(client)) {
      return false;
    }
    events.forEach(event -> frames.event(cursor, event));
    writer.writeNow(client, frames.written());
    delivered(events);
    return true;
  }

  private void delivered(List<LogEvent> events) {
    LogEvent newest = events.getLast();
    cursor = newest.position();
    upstreamId = newest.upstreamId();
    replayed += place == Place.BEHIND ? events.size() : 0;
    // The response to a single request is the last event of its stream.
    if (awaited.size() > (shared ? 0 : 1)) {
      events.forEach(awaited::removeAnswered);
    }
    advanced(PageReader.bytes(events));
    writer.delivered();
    context.listener().delivered(events.size());
    if (newest.logged() && (kind == TailKind.REQUEST || place != Place.BEHIND)) {
      long delay = context.clock().millis() - events.getFirst().position().millis();
      listener.deliveredLive(Duration.ofMillis(Math.max(0, delay)));
    }
  }

  private void advanced(long bytes) {
    if (watch != null) {
      watch.advanced(cursor, bytes);
    }
  }

  /** Notes that the client has all events of the log. */
  void caughtUp() {
    if (place != Place.BEHIND) {
      return;
    }
    logResumed();
    place = Place.AT_HEAD;
    receipt.begun();
  }

  private void logResumed() {
    if (kind == TailKind.RESUMED && place == Place.BEHIND) {
      listener.replayed(replayed, writer.age());
      RESUMES.info(LOG, "stream resumed stream=%s missed=%d", stream, replayed);
    }
  }

  /**
   * Returns true if the client can resume elsewhere. A client without an event id would lose its
   * call with the connection. A client whose newest event is not in the log would find a gap.
   */
  boolean isResumable() {
    boolean hasEventId =
        kind != TailKind.REQUEST || frames.hasPriming() || !cursor.equals(Position.START);
    return !frames.isPastLog() && (standalone || (frames.hasIds() && hasEventId));
  }

  /** Returns true if the log may have the client's newest event at another position, or get it. */
  boolean isAhead(ReadResult.Gap gap) {
    return upstreamId != null
        && context.log().beforeRest(stream, gap).orElse(cursor).number() < cursor.number();
  }

  /** Moves the cursor to where the log has the client's newest event; false if it does not. */
  boolean goOnAfterSameEvent() {
    String id = Objects.requireNonNull(upstreamId);
    Optional<Position> same = MissingEvents.sameEvent(context.log(), stream, cursor, id);
    return same.isPresent() && goOnAfter(same.get());
  }

  /** Moves the cursor over missing events; returns false if the client must resume instead. */
  boolean skip(ReadResult.Gap gap) {
    upstreamId = null;
    Optional<Position> rest = context.log().beforeRest(stream, gap);
    Position next =
        standalone
            ? MissingEvents.goOnAfter(context.log(), stream, cursor, rest.orElse(cursor))
            : rest.orElse(cursor);
    boolean hasOwnCursor = kind == TailKind.REQUEST || kind == TailKind.RESUMED;
    boolean continues =
        StreamNames.answersRequests(stream)
            ? next.number() >= cursor.number() // Else the client would get events twice.
            : context.onGap() == ReplayConfig.OnGap.CONTINUE;
    boolean ends = hasOwnCursor && !continues;
    if (!ends || !isResumable()) {
      context.listener().gap();
      MissingEvents.logGap(stream, cursor, MissingEvents.cause(cursor, rest));
    }
    if (ends) {
      // The client resumes with its cursor and gets 410, which counts: here no status can be sent.
      frames.close(context.config().retry());
      return false;
    }
    frames.gap(cursor, next);
    return goOnAfter(next);
  }

  private boolean goOnAfter(Position next) {
    boolean moves = !next.equals(cursor);
    cursor = next;
    advanced(0); // The writer must not wait for what is gone.
    return moves;
  }
}
