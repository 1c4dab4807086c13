package dev.holdfast.relay;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.ReadResult;
import dev.holdfast.relay.attach.AttachedCalls;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.session.Session;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Follows the streams of sessions. Thread-safe. */
public record StreamFollower(
    Sessions sessions,
    SessionUpstreams upstreams,
    MessageRouter router,
    StreamStarter starter,
    TailOpener tails,
    Admission admission,
    ReplayConfig replay,
    AttachedCalls attached) {

  /** Follows the standalone stream, as {@link Relay#listen} does. */
  public Tail listen(Session session, boolean fromStart) {
    open(session);
    return tails.standalone(session, fromStart);
  }

  /** Follows the standalone stream, as {@link Relay#share} does. */
  public Tail share(Session session) {
    open(session);
    return tails.sharedStandalone(session);
  }

  private void open(Session session) {
    try (Admission.Pass _ = admission.enter()) {
      if (upstreams.isPinned(session) && !router.hasOwner(session)) {
        // The session is not ended yet, so that the client can resume its calls.
        throw new RelayException.SessionNotFound(session.id(), "lost with its replica");
      }
      starter.startListening(session);
    }
  }

  /** Begins to read what a stream has after an event; null without replay. Does not block. */
  @Nullable Supplier<ReadResult> readAhead(SessionId id, EventId last) {
    return replay.enabled() ? tails.readAhead(id, last) : null;
  }

  /**
   * Resumes a stream, as {@link Relay#resume} does.
   *
   * @param page the result of {@link #readAhead}; null if it was not called
   */
  public Optional<Tail> resume(Session session, EventId last, @Nullable Supplier<ReadResult> page) {
    if (!replay.enabled()) {
      return Optional.of(listen(session, false));
    }
    Optional<Tail> tail =
        tails.resume(session, last, page == null ? tails.readAhead(session.id(), last) : page);
    sessions.resumed(session);
    return followed(session, last, tail);
  }

  /** Reads a stream again, as {@link Relay#reopen} does. */
  public Optional<Tail> reopen(Session session, EventId last) {
    return followed(
        session, last, tails.resume(session, last, tails.readAhead(session.id(), last)));
  }

  private Optional<Tail> followed(Session session, EventId last, Optional<Tail> tail) {
    if (tail.isEmpty()) {
      attached.read(StreamNames.of(session, last.stream()));
    }
    return tail.map(attached::resumed);
  }
}
