package dev.holdfast.relay.tail;

import dev.holdfast.call.SessionId;
import dev.holdfast.clients.KnownClient;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens tails of streams at the right position. Thread-safe; methods may block.
 *
 * @param clients what clients can take and do
 */
public record TailOpener(TailContext context, ReplayConfig replay, KnownClients clients) {

  /** Follows the stream of new requests. */
  public Tail ofRequests(Session session, StreamRef stream, List<RequestId> requests) {
    return tail(session, stream, framing(session, stream), Position.START, TailKind.REQUEST)
        .answering(requests);
  }

  /**
   * Follows the new shared stream of a session over HTTP with SSE, which begins with the URL to
   * which the client sends its messages.
   */
  public Tail shared(Session session, String endpoint) {
    EventFraming framing = sharedFraming(session, endpoint);
    return tail(session, StreamNames.shared(session), framing, Position.START, TailKind.REQUEST);
  }

  /** Resumes the {@link #shared} stream of a session. Throws as {@link #resume} does. */
  public Tail resumeShared(Session session, EventId last, String endpoint) {
    EventFraming framing = sharedFraming(session, endpoint);
    return resume(session, last, framing, readAhead(session.id(), last))
        .orElseThrow(() -> new RelayException.SessionNotFound(session.id(), "ended"));
  }

  /**
   * Follows the standalone stream.
   *
   * @param fromStart whether from the oldest event in the log; if not, from the first event that
   *     was not delivered
   */
  public Tail standalone(Session session, boolean fromStart) {
    StreamRef stream = StreamNames.standalone(session);
    Position cursor = fromStart ? Position.START : context.log().deliveredUpTo(stream);
    TailKind kind = fromStart ? TailKind.FROM_START : TailKind.STANDALONE;
    return tail(session, stream, framing(session, stream), cursor, kind);
  }

  /** Follows the standalone stream from its end on, beside others. */
  public Tail sharedStandalone(Session session) {
    StreamRef stream = StreamNames.standalone(session);
    Position end = context.log().newest(stream).orElse(Position.START);
    return tail(session, stream, framing(session, stream), end, TailKind.SHARED);
  }

  /**
   * Resumes a stream.
   *
   * @param firstPage the result of {@link #readAhead}
   * @return empty when the stream is complete and the client has all of it
   * @throws RelayException.EventsPurged when later events were purged and replay stops at gaps
   * @throws RelayException.StreamNotFound when the session has no such stream
   */
  public Optional<Tail> resume(Session session, EventId last, Supplier<ReadResult> firstPage) {
    StreamRef stream = StreamNames.of(session, last.stream());
    return resume(session, last, framing(session, stream), firstPage);
  }

  /** Begins to read the first page of a stream that is resumed. Does not block. */
  public Supplier<ReadResult> readAhead(SessionId session, EventId last) {
    return context
        .log()
        .readAhead(
            new StreamRef(StreamNames.key(session), last.stream()),
            last.position(),
            PageReader.FIRST_PAGE,
            PageReader.SMALLEST);
  }

  private Optional<Tail> resume(
      Session session, EventId last, EventFraming framing, Supplier<ReadResult> firstPage) {
    StreamRef stream = StreamNames.of(session, last.stream());
    ReadResult page = firstPage.get();
    boolean stale = isStale(stream, last.position(), page);
    ReadResult next = stale ? gapIn(stream) : page;
    switch (next) {
      case ReadResult.Gap gap when isRefused(stream, last.position(), gap) ->
          throw purged(
              stream,
              last,
              gap.firstAvailable(),
              stale
                  ? MissingEvents.STALE
                  : MissingEvents.cause(last.position(), context.log().beforeRest(stream, gap)));
      case ReadResult.NoSuchStream _ -> throw notFound(session, stream, last);
      case ReadResult.EndOfStream _ -> {
        context.delivered(stream, false); // The client has the last event.
        return Optional.empty();
      }
      case ReadResult.Events(List<LogEvent> events) when isOnlyEnd(events) -> {
        return Optional.empty();
      }
      case ReadResult.Gap _, ReadResult.Events _ -> {}
    }
    Tail tail = tail(session, stream, framing, last.position(), TailKind.RESUMED);
    return Optional.of(stale ? tail : tail.startingWith(next));
  }

  /** Returns true if a cursor is too old. A client that has missed nothing may have any cursor. */
  private boolean isStale(StreamRef stream, Position cursor, ReadResult page) {
    return !StreamNames.answersRequests(stream)
        && isOlderThan(cursor, replay.window())
        && page instanceof ReadResult.Events(List<LogEvent> events)
        && !events.isEmpty();
  }

  /** A client gets a result that is there, or will be, whatever was purged before it. */
  private boolean isRefused(StreamRef stream, Position cursor, ReadResult.Gap gap) {
    if (!StreamNames.answersRequests(stream)) {
      return replay.onGap() == ReplayConfig.OnGap.ERROR;
    }
    Optional<Position> rest = context.log().beforeRest(stream, gap);
    // A client ahead of the log, which has lost events, would get some twice.
    return rest.isEmpty()
        || rest.get().number() < cursor.number()
        || !(context.log().read(stream, rest.get(), 1)
            instanceof ReadResult.Events(List<LogEvent> events))
        || isOnlyEnd(events);
  }

  private RelayException purged(
      StreamRef stream, EventId last, @Nullable Position available, String cause) {
    context.listener().gap();
    MissingEvents.logGap(stream, last.position(), cause);
    return new RelayException.EventsPurged(last, available);
  }

  /** A cancelled call ends with an empty event, which clients do not get. */
  private static boolean isOnlyEnd(List<LogEvent> events) {
    return !events.isEmpty() && events.getFirst().last() && events.getFirst().payload().length == 0;
  }

  /** The gap after a cursor that is too old. */
  private ReadResult gapIn(StreamRef stream) {
    return switch (context.log().read(stream, Position.START, 1)) {
      case ReadResult.Events(List<LogEvent> events) when !events.isEmpty() ->
          new ReadResult.Gap(events.getFirst().position());
      case ReadResult.Events _, ReadResult.EndOfStream _ -> new ReadResult.Gap(null);
      case ReadResult.Gap gap -> gap;
      case ReadResult.NoSuchStream unknown -> unknown;
    };
  }

  /**
   * A stream that may have existed was purged, or lost with a primary; any other never existed. The
   * first event id of a stream has no time.
   */
  private RelayException notFound(Session session, StreamRef stream, EventId last) {
    Position position = last.position();
    boolean precedes = position.millis() < session.created().toEpochMilli();
    if (position.number() == 0 || (!precedes && isOlderThan(position, Duration.ZERO))) {
      return purged(stream, last, null, MissingEvents.GONE);
    }
    MissingEvents.logUnknown(
        stream, position, precedes ? "older than its session" : "not written yet");
    return new RelayException.StreamNotFound();
  }

  private boolean isOlderThan(Position position, Duration age) {
    return position.number() > 0 && position.millis() < context.clock().millis() - age.toMillis();
  }

  private EventFraming framing(Session session, StreamRef stream) {
    KnownClient client = clientOf(session);
    boolean current = session.version().hasPriming();
    return new EventFraming(
        stream.name(),
        replay.enabled(),
        current && client.priming(),
        current && client.retry(),
        null);
  }

  private KnownClient clientOf(Session session) {
    return clients.find(session.userAgent(), session.client());
  }

  private EventFraming sharedFraming(Session session, String endpoint) {
    String name = session.id().value() + "_" + StreamNames.SHARED;
    return new EventFraming(name, replay.enabled(), true, clientOf(session).retry(), endpoint);
  }

  /** Forgets evicted clients. */
  public void sweep() {
    context.tails().sweep();
  }

  private Tail tail(
      Session session, StreamRef stream, EventFraming framing, Position cursor, TailKind kind) {
    return new Tail(
            context,
            stream,
            framing,
            cursor,
            kind,
            context.listener().streamsOf(session.upstream()),
            () ->
                clientOf(session).moves(context.tails().hasResumed(StreamNames.key(session.id()))))
        .of(() -> clientOf(session));
  }
}
