package dev.holdfast.relay.tail;

import dev.holdfast.budget.LogRate;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.PendingRequests;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Events that the client of one {@link Tail} has received, of which the log hears, and the frames
 * on their way to it. The turn of the tail guards all fields.
 */
final class Delivery {

  private static final Logger LOG = Logger.getLogger(Delivery.class);
  private static final LogRate RESUMES = new LogRate(Duration.ofMillis(100));

  /** The last event goes out together with the end of the response, up to this many bytes. */
  private static final int END_WITH_RESPONSE = 16 * 1024;

  /** The end of a stream that lived longer is kept as if nobody had been sent it. */
  private static final Duration SHORT_CALL = Duration.ofSeconds(10);

  /** The session has ended, or the store has lost it. */
  private static final String STREAM_LOST =
      "The stream of the request is gone; the outcome of the request is unknown";

  private final TailContext context;
  private final StreamRef stream;
  private EventFraming framing;
  private final TailKind kind;
  private final StreamListener listener;
  private final ClientWriter writer;

  /** True for a stream that keeps the events of all streams of a session. */
  private final boolean shared;

  /**
   * Requests whose responses the client awaits. If the store loses the stream, each gets an error.
   */
  private final PendingRequests awaited = new PendingRequests(List.of());

  private final SseWriter frames = new SseWriter();
  private final boolean standalone;
  private final Instant began;
  private Position cursor;
  private int replayed;

  private Place place = Place.BEHIND;

  /** True if the newest event is not in the log, so that the client cannot resume after it. */
  private boolean pastLog;

  private Translation translation = Translation.NONE;

  /** The request that gets the messages; null for that of the stream. */
  private @Nullable RepeatedRequest repeated;

  /** Null if nobody asks, or once it was told. */
  private @Nullable Receipt receipt;

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
      EventFraming framing,
      Position cursor,
      TailKind kind,
      StreamListener listener,
      BooleanSupplier shouldEnd,
      BooleanSupplier resumes) {
    this.context = context;
    this.stream = stream;
    this.framing = framing;
    this.cursor = cursor;
    this.kind = kind;
    this.listener = listener;
    this.writer =
        new ClientWriter(
            context.config(),
            shouldEnd,
            this::isAwaited,
            () -> isAwaited() && !(resumes.getAsBoolean() && isResumable()));
    this.shared = framing.endpoint() != null;
    this.began = context.clock().instant();
    this.standalone = stream.name().equals(StreamNames.STANDALONE) && kind != TailKind.SHARED;
  }

  ClientWriter writer() {
    return writer;
  }

  /** Translates all messages, before the tail runs. */
  void translate(Translation with, @Nullable String idPrefix) {
    translation = with;
    framing = framing.withoutSession(idPrefix);
  }

  /** Gives the messages to another request, before the tail runs. */
  void repeat(RepeatedRequest request) {
    repeated = request;
  }

  /** Returns true if another request gets the messages. */
  boolean isRepeating() {
    return repeated != null;
  }

  /** Tells the outcome of the response. Called before the tail runs. */
  void report(Receipt to) {
    receipt = to;
  }

  /** Returns true if nobody waits for the delivery of a response. That of an error is not told. */
  boolean reportsSingle(byte[] response) {
    Receipt to = receipt;
    if (to != null && JsonEdit.raw(response, "error") == null) {
      return false;
    }
    receipt = null;
    if (to != null) {
      to.delivered();
    }
    return true;
  }

  /** Wraps the translation, before the tail runs. */
  void wrap(UnaryOperator<Translation> wrapper) {
    translation = wrapper.apply(translation);
  }

  /** Gives events no ids, before the tail runs. */
  void withoutIds() {
    framing = framing.withoutSession(null);
  }

  /** Returns true if events have ids, without which no client resumes. */
  boolean hasIds() {
    return framing.ids();
  }

  /** Returns true if the response pauses when a newer tail takes the stream. */
  boolean pausesForNewerTail() {
    return !pastLog && translation.pausesForNewerTail();
  }

  /** Returns true if the response can end before the stream, and the client comes back. */
  boolean canPause() {
    return !pastLog && translation.canPause();
  }

  /** Time after which the response must end early; null if it need not. */
  @Nullable Duration untilPause() {
    return pastLog ? null : translation.untilPause();
  }

  /** Adds what the client gets besides the stream. */
  void atHead() {
    translation.atHead().forEach(message -> framing.unlogged(frames, message));
  }

  /** Time after which there may be more of it; null if that can wait for the next event. */
  @Nullable Duration untilAtHead() {
    return translation.untilAtHead();
  }

  /** Adds the last message of a response that ends before the stream. */
  void pause() {
    framing.unlogged(frames, translation.pause(cursor));
  }

  /** Notes that the response has ended, or that the client has left before. */
  void closed(boolean left) {
    if (receipt != null && !left && translation.isHandedOver()) {
      receipt.delivered();
    } else if (receipt != null) {
      receipt.left();
    }
    receipt = null;
    translation.closed(left);
  }

  private void frame(LogEvent event) {
    boolean isEmpty = event.payload().length == 0;
    if (isEmpty && event.last() && repeated != null) {
      framing.unlogged(frames, translation.translate(cursor, repeated.cancelled()));
    }
    if (isEmpty || (translation.equals(Translation.NONE) && repeated == null)) {
      framing.event(frames, event);
      return;
    }
    byte[] message = translated(event.logged() ? event.position() : cursor, event.payload());
    framing.event(
        frames,
        new LogEvent(event.position(), message, event.upstreamId(), event.last(), event.logged()));
  }

  private byte[] translated(Position position, byte[] logged) {
    byte[] message = repeated == null ? logged : repeated.translate(logged);
    return message.length == 0 ? message : translation.translate(position, message);
  }

  /** Adds what the client still needs when the log has no further events. */
  private void streamEnded() {
    translation.atEnd().forEach(message -> framing.unlogged(frames, message));
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

  /** The number of events that the client had missed. */
  int replayed() {
    return replayed;
  }

  /** Begins with the first frame, and watches the stream. */
  void begin(EventLog.Watcher watcher) {
    framing.opening(frames, cursor, context.config().retry());
    Position from = kind == TailKind.STANDALONE ? null : cursor;
    watch =
        kind == TailKind.SHARED
            ? context.log().watchShared(stream, watcher)
            : context.log().watch(stream, from, watcher);
    translation.begin().forEach(message -> framing.unlogged(frames, message));
    if (kind == TailKind.RESUMED || shared) {
      List<RequestId> open = RequestId.parse(watch.requests());
      awaited.add(open);
      translation.requests(open);
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
    if (frames.length() > 0) {
      try {
        client.end(frames.take());
      } catch (ClientGoneException gone) {
        leave(ended); // It does not have the end.
        throw gone;
      }
    }
    if (place == Place.COMPLETE) {
      // A socket that took the end is no proof that the client has it.
      boolean isShort =
          Duration.between(began, context.clock().instant()).compareTo(SHORT_CALL) <= 0;
      context.log().markFullyDelivered(stream, kind != TailKind.REQUEST || !isShort);
      boolean wasThere = cursor.millis() < began.toEpochMilli();
      if (kind != TailKind.REQUEST && wasThere && StreamNames.answersRequests(stream)) {
        listener.result(StreamListener.Result.LATE);
      }
      if (receipt != null) {
        receipt.delivered();
        receipt = null;
      }
    }
  }

  void endWatch() {
    if (watch != null && place != Place.COMPLETE) {
      leave(watch);
    } else if (watch != null) {
      watch.close();
    }
    watch = null;
  }

  private static void leave(EventLog.@Nullable Watch left) {
    if (left != null) {
      left.leave();
      left.close();
    }
  }

  /** Adds the last frame of a connection whose stream continues. */
  void close(Duration retry) {
    framing.closing(frames, retry);
  }

  /** Adds the last frames of a connection that is closed for a reason. */
  void close(String why) {
    frames.comment(why);
    close(context.config().drainRetry());
  }

  /** Notes that the log keeps no further events of the stream. */
  void streamGone() {
    place = Place.GONE;
    streamEnded();
  }

  /** Notes that the log has lost the stream: adds an error for each request without a response. */
  void streamLost() {
    place = Place.GONE;
    for (RequestId id : awaited.open()) {
      byte[] error = JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, STREAM_LOST);
      framing.unlogged(frames, translated(cursor, error));
    }
    streamEnded();
  }

  void commentIfSilent() {
    if (writer.isSilent()) {
      frames.comment("");
    }
  }

  /** Writes all frames and waits until the socket has taken them. */
  void flush(ClientConnection client) throws ClientGoneException {
    writer.flush(client, frames);
  }

  /** Delivers events, and waits until the socket has taken them. Their end may go out later. */
  void deliver(List<LogEvent> events, ClientConnection client) throws ClientGoneException {
    boolean last = events.getLast().last();
    events.forEach(this::frame);
    if (last) {
      streamEnded();
    }
    if (!last || frames.length() > END_WITH_RESPONSE || receipt != null) {
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
        || !translation.equals(Translation.NONE)
        || repeated != null
        || !before.equals(cursor)
        || events.getLast().last()
        || PageReader.bytes(events) > PageReader.SMALLEST
        || !writer.hasTaken(client)) {
      return false;
    }
    events.forEach(event -> framing.event(frames, event));
    writer.writeNow(client, frames);
    delivered(events);
    return true;
  }

  private void delivered(List<LogEvent> events) {
    LogEvent newest = events.getLast();
    cursor = newest.position();
    pastLog = !newest.logged();
    replayed += place == Place.BEHIND ? events.size() : 0;
    // The response to a single request is the last event of its stream.
    if (awaited.size() > (shared ? 0 : 1)) {
      events.forEach(awaited::removeAnswered);
    }
    advanced(PageReader.bytes(events));
    writer.delivered();
    context.listener().delivered(events.size());
    if (newest.logged() && (kind == TailKind.REQUEST || place != Place.BEHIND)) {
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

  /** Notes that the client has all events of the log. */
  void caughtUp() {
    if (place != Place.BEHIND) {
      return;
    }
    logResumed();
    place = Place.AT_HEAD;
    if (receipt != null) {
      receipt.begun();
    }
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
        kind != TailKind.REQUEST || framing.priming() || !cursor.equals(Position.START);
    return !pastLog && (standalone || (framing.ids() && hasEventId));
  }

  /** Moves the cursor over missing events; returns false if the client must resume instead. */
  boolean skip(ReadResult.Gap gap) {
    Optional<Position> rest = context.log().beforeRest(stream, gap);
    String cause = MissingEvents.cause(cursor, rest);
    Position next = rest.orElse(cursor);
    if (standalone && next.number() < cursor.number()) {
      next = afterLost(next);
    }
    boolean hasOwnCursor = kind == TailKind.REQUEST || kind == TailKind.RESUMED;
    boolean continues =
        StreamNames.answersRequests(stream)
            ? next.number() >= cursor.number() // Else the client would get events twice.
            : context.onGap() == ReplayConfig.OnGap.CONTINUE;
    boolean ends = hasOwnCursor && !continues;
    if (!ends || !isResumable()) {
      context.listener().gap();
      MissingEvents.logGap(stream, cursor, cause);
    }
    if (ends) {
      // The client resumes with its cursor and gets 410, which counts: here no status can be sent.
      close(context.config().retry());
      return false;
    }
    framing.gap(frames, cursor, next);
    translation.afterGap().forEach(message -> framing.unlogged(frames, message));
    if (next.equals(cursor)) {
      return false;
    }
    cursor = next;
    advanced(0); // The writer must not wait for what is gone.
    return true;
  }

  /**
   * Finds where a client goes on that has events which the store has lost: before the first event
   * that was written after them. From the oldest one it would get events twice.
   */
  private Position afterLost(Position oldest) {
    return switch (context.log().read(stream, new Position(cursor.millis() + 1, 0), 1)) {
      case ReadResult.Events(List<LogEvent> events) when !events.isEmpty() -> {
        Position first = events.getFirst().position();
        yield new Position(first.millis(), first.number() - 1);
      }
      case ReadResult.Gap newer -> newer.resumeAfter().orElse(oldest);
      default -> oldest;
    };
  }
}
