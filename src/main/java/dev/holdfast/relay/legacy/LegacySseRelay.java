package dev.holdfast.relay.legacy;

import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.MessageKind;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.upstream.UpstreamSession;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The relay for clients of HTTP with SSE (2024-11-05, Transports), which follow one stream per
 * session. Each request opens a stream with an owner of its own, as for other clients. The events
 * of all these streams are in the session's shared stream, which numbers and replays them.
 *
 * <p>Thread-safe. Methods block and throw as those of {@code Relay} do.
 */
public final class LegacySseRelay {

  private final Sessions sessions;
  private final SessionUpstreams upstreams;
  private final PendingSessions pending;
  private final Admission admission;
  private final MessageRouter router;
  private final StreamStarter starter;
  private final TailOpener tails;
  private final RelayListener listener;

  /** Creates the relay. */
  public LegacySseRelay(
      Sessions sessions,
      SessionUpstreams upstreams,
      PendingSessions pending,
      Admission admission,
      MessageRouter router,
      StreamStarter starter,
      TailOpener tails,
      RelayListener listener) {
    this.sessions = sessions;
    this.upstreams = upstreams;
    this.pending = pending;
    this.admission = admission;
    this.router = router;
    this.starter = starter;
    this.tails = tails;
    this.listener = listener;
  }

  /**
   * Opens a session that its client initializes later, and follows its shared stream.
   *
   * @param upstream the name of the upstream
   * @param endpoint the URL to which the client sends messages, for a session; the stream begins
   *     with it
   * @throws RelayException.UnknownUpstream when no upstream has the name
   */
  public Tail open(String upstream, Function<SessionId, String> endpoint) {
    try (Admission.Pass _ = admission.enter()) {
      Session session = pending.open(upstream);
      return tails.shared(session, endpoint.apply(session.id()));
    }
  }

  /**
   * Finds the session that a client names.
   *
   * @throws RelayException.SessionNotFound when the upstream has no such session over this
   *     transport
   */
  public Session session(String upstream, SessionId id) {
    return requireLegacy(sessions.find(upstream, id));
  }

  /**
   * Finds the session for a body.
   *
   * @throws RelayException.SessionNotFound as above; for requests only {@link #request} may notice
   * @throws RelayException.NotInitialized when the session is not initialized and the body is no
   *     {@code initialize}
   */
  public Session session(String upstream, SessionId id, Body body) {
    boolean hasRequests = !body.requestIds().isEmpty();
    Session session =
        requireLegacy(
            hasRequests ? sessions.findRecent(upstream, id) : sessions.find(upstream, id));
    if (!session.isInitialized() && initializeIn(body) == null) {
      throw new RelayException.NotInitialized();
    }
    return session;
  }

  private static Session requireLegacy(Session session) {
    if (!session.hasOneStream()) {
      throw new RelayException.SessionNotFound();
    }
    return session;
  }

  /** Whether an event id has the form of this transport. */
  public static boolean mayResume(EventId id) {
    return id.session() != null && id.stream().equals(StreamNames.SHARED);
  }

  /**
   * Resumes the shared stream of a session. A draining replica allows it too and moves the client
   * at once.
   *
   * @param last the last event that the client has
   * @param endpoint the URL to which the client sends messages, for a session
   * @throws RelayException.EventsPurged when later events were purged and replay stops at gaps
   */
  public Tail resume(Session session, EventId last, Function<SessionId, String> endpoint) {
    if (session.isInitialized() && !admission.isDraining()) {
      starter.startListening(session);
    }
    return tails.resumeShared(session, last, endpoint.apply(session.id()));
  }

  /**
   * Accepts requests. When this returns, the log records them. Each gets a response, or an error,
   * on the shared stream.
   *
   * @throws dev.holdfast.protocol.EnvelopeException when an {@code initialize} names no version
   */
  public void request(Session session, Body body) {
    try (Admission.Pass _ = admission.enter()) {
      body.messages().forEach(each -> listener.fromClient(MessageKind.of(each)));
      StreamRef stream = StreamNames.next(session);
      Message.@Nullable Request initialize = initializeIn(body);
      if (initialize == null) {
        request(session, stream, body);
      } else {
        InitializeRequest parsed = InitializeRequest.read(initialize);
        Pump _ =
            starter.start(
                session,
                stream,
                body,
                () -> pending.initialize(session, initialize, parsed),
                Pump.Origin.NOT_ASKED);
      }
    }
  }

  private void request(Session session, StreamRef stream, Body body) {
    if (!router.isServedHere(session)) {
      starter.startOnOwner(session, stream, body);
      return;
    }
    router.cancelRequests(session, body);
    UpstreamSession upstream = upstreams.attach(session);
    Pump pump =
        starter.start(
            session, stream, body, () -> upstream.request(body).source(), Pump.Origin.NOT_ASKED);
    if (upstreams.isPinned(session)) {
      pump.awaitSent();
    }
  }

  private static Message.@Nullable Request initializeIn(Body body) {
    return body instanceof Body.Single(Message.Request request) && request.isInitialize()
        ? request
        : null;
  }
}
