package dev.holdfast.relay.tail;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Gives clients a tail of a stream, at the right place. Thread-safe; methods may block. */
public final class TailOpener {

  private final EventLog log;
  private final StreamConfig streams;
  private final ReplayConfig replay;
  private final RelayListener listener;
  private final Admission admission;
  private final Consumer<Session> used;
  private final InstantSource clock;
  private final EvictionBackoff evictions;
  private final TailContext context;

  /**
   * Opens none yet.
   *
   * @param used is told from time to time of each session to which a client listens
   * @param clock tells how old a cursor is
   */
  public TailOpener(Parts parts, Consumer<Session> used, InstantSource clock) {
    this.log = parts.log();
    this.streams = parts.streams();
    this.replay = parts.replay();
    this.listener = parts.listener();
    this.admission = parts.admission();
    this.used = used;
    this.clock = clock;
    this.evictions = new EvictionBackoff(streams.retry());
    this.context =
        new TailContext(
            log, streams, replay.onGap(), evictions, listener, parts.tails(), PageReader.pages());
  }

  /** Of a request that was just made. */
  public Tail ofRequest(Session session, StreamRef stream) {
    return tail(session, stream, Position.START, Tail.Kind.REQUEST);
  }

  /**
   * Of the one stream of a session, which was just opened.
   *
   * @param endpoint where the client is to send its messages
   */
  public Tail one(Session session, String endpoint) {
    StreamRef stream = StreamNames.one(session);
    return tail(session, stream, framing(session, endpoint), Position.START, Tail.Kind.REQUEST);
  }

  /**
   * Of the one stream of a session, from the event after the one that the client names.
   *
   * @param endpoint where the client is to send its messages
   */
  public Tail resumeOne(Session session, EventId last, String endpoint) {
    return resume(session, last, framing(session, endpoint))
        .orElseThrow(RelayException.SessionNotFound::new);
  }

  private EventFraming framing(Session session, String endpoint) {
    String name = session.id().value() + "_" + StreamNames.ONE;
    return new EventFraming(name, replay.enabled(), true, endpoint);
  }

  /** Of the standalone stream, from the first event that was not delivered yet. */
  public Tail standalone(Session session) {
    StreamRef stream = StreamNames.standalone(session);
    return tail(session, stream, log.deliveredUpTo(stream), Tail.Kind.STANDALONE);
  }

  /** Of the standalone stream, from the oldest event that is kept. */
  public Tail standaloneFromStart(Session session) {
    StreamRef stream = StreamNames.standalone(session);
    return tail(session, stream, Position.START, Tail.Kind.FROM_START);
  }

  /**
   * Of a stream from the event after the one that the client names.
   *
   * @return empty when the stream is complete and the client has all of it
   * @throws RelayException.EventsPurged when events after it are gone, unless replay goes on after
   *     gaps
   * @throws RelayException.StreamNotFound when the session has no such stream
   */
  public Optional<Tail> resume(Session session, EventId last) {
    StreamRef stream = StreamNames.of(session, last.stream());
    admission.check(stream);
    return resume(session, last, framing(session, stream));
  }

  private Optional<Tail> resume(Session session, EventId last, EventFraming framing) {
    StreamRef stream = StreamNames.of(session, last.stream());
    boolean stale =
        isOlderThan(last.position(), replay.window()) && !waits(stream, last.position(), framing);
    ReadResult next =
        stale ? gapIn(stream) : log.read(stream, last.position(), PageReader.FIRST_PAGE);
    switch (next) {
      case ReadResult.Gap gap when replay.onGap() == ReplayConfig.OnGap.ERROR -> {
        listener.gap();
        throw new RelayException.EventsPurged(last, gap.firstAvailable());
      }
      case ReadResult.NoSuchStream _ -> throw missing(session, last);
      case ReadResult.EndOfStream _ -> {
        return Optional.empty();
      }
      case ReadResult.Events(List<LogEvent> events) when onlyEnds(events) -> {
        return Optional.empty();
      }
      case ReadResult.Gap _, ReadResult.Events _ -> {}
    }
    Tail tail = tail(session, stream, framing, last.position(), Tail.Kind.RESUMED);
    return Optional.of(stale ? tail : tail.beginningWith(next));
  }

  /**
   * Whether nothing has come after the cursor on a stream that lives as long as its session: a
   * client that has waited for long, and was sent away now and then, has missed nothing.
   */
  private boolean waits(StreamRef stream, Position cursor, EventFraming framing) {
    return framing.endpoint() != null
        && log.read(stream, cursor, 1) instanceof ReadResult.Events(List<LogEvent> events)
        && events.isEmpty();
  }

  /** The end of a call that was cancelled is an event, but not one that a client gets. */
  private static boolean onlyEnds(List<LogEvent> events) {
    return !events.isEmpty() && events.getFirst().last() && events.getFirst().payload().length == 0;
  }

  /** What is still there for a cursor that is too old to be trusted with it. */
  private ReadResult gapIn(StreamRef stream) {
    return switch (log.read(stream, Position.START, 1)) {
      case ReadResult.Events(List<LogEvent> events) when !events.isEmpty() ->
          new ReadResult.Gap(events.getFirst().position());
      case ReadResult.Events _, ReadResult.EndOfStream _ -> new ReadResult.Gap(null);
      case ReadResult.Gap gap -> gap;
      case ReadResult.NoSuchStream unknown -> unknown;
    };
  }

  /** A stream that was kept as long as promised and is gone was purged; others never were. */
  private RelayException missing(Session session, EventId last) {
    Position position = last.position();
    boolean once =
        position.millis() >= session.created().toEpochMilli()
            && isOlderThan(position, streams.completedTtl());
    return once ? new RelayException.EventsPurged(last, null) : new RelayException.StreamNotFound();
  }

  private boolean isOlderThan(Position position, Duration age) {
    return position.number() > 0 && position.millis() < clock.millis() - age.toMillis();
  }

  private EventFraming framing(Session session, StreamRef stream) {
    return new EventFraming(stream.name(), replay.enabled(), session.version().hasPriming());
  }

  private Tail tail(Session session, StreamRef stream, Position cursor, Tail.Kind kind) {
    return tail(session, stream, framing(session, stream), cursor, kind);
  }

  private Tail tail(
      Session session, StreamRef stream, EventFraming framing, Position cursor, Tail.Kind kind) {
    return new Tail(context, stream, framing, cursor, kind, () -> used.accept(session));
  }

  /** Forgets who was evicted. */
  public void sweep() {
    evictions.forget();
  }
}
