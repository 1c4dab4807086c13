package dev.holdfast.relay.legacy;

import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.pump.PendingRequests;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The relay for clients that have one stream for everything (2024-11-05, Transports, HTTP with
 * SSE). Each request opens a stream as it does for other clients, with an owner of its own, and
 * ends it as there; but the events of all of them are kept in the one stream that the client
 * follows, and so are numbered, resumed and replayed there.
 *
 * <p>Thread-safe. Methods block and throw as those of {@link Relay} do.
 */
public final class LegacySseRelay {

  /** For how long a request holds up the next one: enough for a server to read it. */
  private static final Duration IN_HAND = Duration.ofMillis(50);

  private final Sessions sessions;
  private final Admission admission;
  private final MessageRouter outbound;
  private final StreamStarter calls;
  private final TailOpener tails;

  public LegacySseRelay(
      Sessions sessions,
      Admission admission,
      MessageRouter outbound,
      StreamStarter calls,
      TailOpener tails) {
    this.sessions = sessions;
    this.admission = admission;
    this.outbound = outbound;
    this.calls = calls;
    this.tails = tails;
  }

  /**
   * Opens a session that its client has yet to initialize, and gives its stream.
   *
   * @param upstream the name of the upstream
   * @param endpoint where the client is to send its messages, as the stream tells it first
   * @throws RelayException.UnknownUpstream when there is none of that name
   */
  public Tail open(String upstream, Function<SessionId, String> endpoint) {
    try (Admission.Pass _ = admission.enter()) {
      Session session = sessions.openings().open(upstream);
      return tails.one(session, endpoint.apply(session.id()));
    }
  }

  /**
   * Finds a session that a client named.
   *
   * @throws RelayException.SessionNotFound when this upstream has none of that name, with one
   *     stream
   */
  public Session session(String upstream, SessionId id) {
    return requireOneStream(sessions.find(upstream, id));
  }

  /**
   * Finds the session in which a body is to be sent.
   *
   * @throws RelayException.SessionNotFound as above; for some bodies only {@link #request} finds
   *     that out
   * @throws RelayException.NotInitialized when the session was not initialized, and this does not
   *     do so
   */
  public Session session(String upstream, SessionId id, Body body) {
    boolean opensStream = !PendingRequests.idsOf(body).isEmpty();
    Session session =
        requireOneStream(opensStream ? sessions.recall(upstream, id) : sessions.find(upstream, id));
    if (!session.isInitialized() && initialize(body) == null) {
      throw new RelayException.NotInitialized();
    }
    return session;
  }

  private static Session requireOneStream(Session session) {
    if (!session.hasOneStream()) {
      throw new RelayException.SessionNotFound();
    }
    return session;
  }

  /** Whether an id can be of an event that a client got here. */
  public static boolean mayResume(EventId id) {
    return id.session() != null && id.stream().equals(StreamNames.ONE);
  }

  /**
   * Gives the stream of a session from the event after the one that the client names. Also on a
   * replica that is about to stop, which sends the client on at once.
   *
   * @param endpoint where the client is to send its messages
   * @throws RelayException.EventsPurged when events after it are gone, unless replay goes on after
   *     gaps
   */
  public Tail resume(Session session, EventId last, Function<SessionId, String> endpoint) {
    if (session.isInitialized()) {
      listen(session);
    }
    return tails.resumeOne(session, last, endpoint.apply(session.id()));
  }

  private void listen(Session session) {
    if (!admission.isClosing()) {
      calls.startListening(session);
    }
  }

  /**
   * Takes requests. Once this has returned they are on record, and each gets its response on the
   * session's stream, be it an error.
   *
   * @throws dev.holdfast.protocol.EnvelopeException when it is an {@code initialize} without
   *     version
   */
  public void request(Session session, Body body) {
    try (Admission.Pass _ = admission.enter()) {
      calls.heard(body);
      Message.@Nullable Request initialize = initialize(body);
      if (initialize == null) {
        ask(session, body);
      } else {
        InitializeRequest asked = InitializeRequest.read(initialize);
        Pump _ =
            calls.start(
                session,
                StreamNames.of(session, StreamNames.next()),
                body,
                () -> sessions.openings().initialize(session, initialize, asked),
                Pump.Origin.TO_ASK);
      }
    }
  }

  private void ask(Session session, Body body) {
    boolean here = outbound.reaches(session);
    StreamRef stream = StreamNames.of(session, StreamNames.next());
    if (!here) {
      calls.startElsewhere(session, stream, body);
      return;
    }
    outbound.withdraw(session, body);
    UpstreamSession upstream = sessions.upstream(session);
    Pump pump =
        calls.start(
            session,
            stream,
            body,
            () -> StreamStarter.sourceOf(upstream.request(body)),
            Pump.Origin.TO_ASK);
    if (sessions.keepsSessions(session)) {
      awaitInHand(pump);
    }
  }

  /** So that what comes next on one pipe does not overtake it. */
  private static void awaitInHand(Pump pump) {
    try {
      pump.awaitFirstSign(IN_HAND);
    } catch (UpstreamException failure) {
      // Of which the stream tells: the request was accepted.
      return;
    }
  }

  private static Message.@Nullable Request initialize(Body body) {
    return body instanceof Body.Single(Message.Request request)
            && request.method().equals(Methods.INITIALIZE)
        ? request
        : null;
  }
}
