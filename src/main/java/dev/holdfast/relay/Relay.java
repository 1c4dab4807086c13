package dev.holdfast.relay;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.Opener;
import dev.holdfast.protocol.Sender;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.pump.UpstreamRequest;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.session.PrincipalId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Routes client messages to the upstream and serves the client's streams.
 *
 * <p>Thread-safe. Methods block their (virtual) thread. Besides what they name, they throw {@link
 * RelayException} for what this replica refuses, {@link UpstreamException} for a failed upstream,
 * and the exceptions of {@link EventLog} and {@link SessionStore} while the store is away.
 */
public record Relay(
    Sessions sessions,
    SessionOpener sessionOpener,
    SessionUpstreams upstreams,
    EventLog log,
    Pumps pumps,
    StreamStarter starter,
    MessageRouter router,
    TailOpener tails,
    Admission admission,
    StreamConfig streams,
    ReplayConfig replay,
    RelayListener listener) {

  private static final Logger LOG = Logger.getLogger(Relay.class);

  /**
   * How long the response head of a durable stream waits for the upstream's answer, so that an
   * immediate failure becomes a status. It is short: before the head, a client cannot resume.
   */
  private static final Duration HEAD_DELAY = Duration.ofMillis(50);

  /** The answer to a request. */
  public sealed interface Reply {

    /** JSON on one line that is not in the log. */
    record Json(byte[] document) implements Reply {}

    /**
     * A durable stream.
     *
     * @param tail not yet running
     */
    record Stream(Tail tail) implements Reply {}
  }

  /** The profile of an upstream; throws {@link RelayException.UnknownUpstream}. */
  public Profile profile(String upstream) {
    return upstreams.named(upstream).profile();
  }

  /**
   * Opens a session.
   *
   * @param principal whom the session will belong to
   * @throws RelayException.UnknownUpstream when no upstream has the name
   * @throws RelayException.UnsupportedVersion when the upstream chose an unknown version
   */
  public SessionOpener.InitializeReply initialize(
      String upstream, Message.Request request, Opener opener, PrincipalId principal) {
    try (Admission.Pass _ = admission.enter()) {
      listener.fromClient(new Body.Single(request));
      SessionOpener.InitializeReply reply =
          sessionOpener.initialize(upstream, request, opener, principal);
      listener.fromUpstream(RelayListener.MessageKind.RESPONSE);
      return reply;
    } catch (UpstreamException failure) {
      listener.upstreamFailed(upstream, failure);
      throw failure;
    }
  }

  /** Throws {@link RelayException.Draining} if this replica admits no requests. */
  public void requireAdmission() {
    admission.enter().close();
  }

  /** Finds a session of the principal; throws {@link RelayException.SessionNotFound}. */
  public Session session(String upstream, SessionId id, PrincipalId principal) {
    return sessions.find(upstream, id, false, principal);
  }

  /** Finds the session for a body. For some bodies, only {@link #request} notices its end. */
  public Session session(String upstream, SessionId id, Body body, PrincipalId principal) {
    return isDurable(body)
        ? sessions.findRecent(upstream, id, false, principal)
        : sessions.find(upstream, id, false, principal);
  }

  /**
   * Sends a request, or a batch with requests, and returns its answer.
   *
   * @param sender who sends it
   * @param onSent runs when the body is no longer held; only if the answer is a stream
   */
  public Reply request(Session session, Body body, Sender sender, Runnable onSent) {
    try (Admission.Pass _ = admission.enter()) {
      listener.fromClient(body);
      if (!router.isServedHere(session)) {
        Reply reply = requestFromOwner(session, body, sender);
        onSent.run();
        return reply;
      }
      router.cancelRequests(session, body);
      return requestFromUpstream(session, body, sender, onSent);
    }
  }

  private Reply requestFromOwner(Session session, Body body, Sender sender) {
    StreamRef stream = StreamNames.next(session);
    starter.startOnOwner(session, stream, body, sender);
    return new Reply.Stream(tails.ofRequests(session, stream, body.requestIds()));
  }

  private Reply requestFromUpstream(Session session, Body body, Sender sender, Runnable onSent) {
    UpstreamSession upstream = upstreams.attach(session, sender);
    try {
      if (isDurable(body)) {
        UpstreamRequest request = UpstreamRequest.of(() -> upstream.request(body).source(), onSent);
        return durable(session, body, request, Pump.Origin.NOT_ASKED);
      }
      return switch (upstream.request(body)) {
        case Answer.Json json -> {
          body.requestIds().forEach(_ -> listener.fromUpstream(RelayListener.MessageKind.RESPONSE));
          json.release().run();
          yield new Reply.Json(json.json());
        }
        case Answer.Stream stream -> {
          Reply reply = durableAnswer(session, body, stream);
          onSent.run();
          yield reply;
        }
      };
    } catch (UpstreamException failure) {
      throw starter.failed(session, failure, !isDurable(body));
    }
  }

  private boolean isDurable(Body body) {
    return replay.enabled()
        && (streams.durable() == StreamConfig.Durable.ALL
            || switch (body) {
              case Body.Single(Message.Request request) ->
                  request.method().equals(Methods.TOOLS_CALL);
              case Body.Single _ -> false;
              // Several responses need a stream that ends with the last of them.
              case Body.Batch _ -> true;
            });
  }

  private Reply durable(Session session, Body body, UpstreamRequest request, Pump.Origin origin) {
    StreamRef stream = StreamNames.next(session);
    Pump pump = starter.start(session, stream, body, request, origin);
    boolean _ = pump.awaitUpstream(HEAD_DELAY);
    return new Reply.Stream(tails.ofRequests(session, stream, body.requestIds()));
  }

  private Reply durableAnswer(Session session, Body body, Answer.Stream answer) {
    try {
      return durable(session, body, answer::source, Pump.Origin.ASKED);
    } catch (Throwable failure) {
      answer.source().close();
      throw failure;
    }
  }

  /**
   * Sends notifications or responses.
   *
   * @param sender who sends it
   */
  public void send(Session session, Body body, Sender sender) {
    listener.fromClient(body);
    try {
      router.send(session, body, sender);
    } catch (UpstreamException failure) {
      throw starter.failed(session, failure, true);
    }
    if (body.messages().stream().anyMatch(Relay::isInitialized)) {
      sessions.clientInitialized(session);
      startListeningUnlessDraining(session);
    }
  }

  private void startListeningUnlessDraining(Session session) {
    try (Admission.Pass _ = admission.enterIfNotDraining()) {
      starter.startListening(session);
    } catch (RelayException.Draining draining) {
      LOG.debugf("another replica will listen to the upstream session=%s", session.id());
    }
  }

  private static boolean isInitialized(Message message) {
    return message instanceof Message.Notification notification && notification.isInitialized();
  }

  /**
   * Follows the standalone stream.
   *
   * @param fromStart whether from the oldest event in the log; if not, from the first event that
   *     was not delivered
   */
  public Tail listen(Session session, boolean fromStart) {
    try (Admission.Pass _ = admission.enter()) {
      if (upstreams.isPinned(session) && !router.hasOwner(session)) {
        // The session is not ended yet, so that the client can resume its calls.
        throw new RelayException.SessionNotFound();
      }
      starter.startListening(session);
    }
    return tails.standalone(session, fromStart);
  }

  /**
   * Resumes a stream.
   *
   * @return empty when the stream is complete and the client has all of it
   * @throws RelayException.EventsPurged when later events were purged and replay stops at gaps
   * @throws RelayException.StreamNotFound when the session has no such stream
   */
  public Optional<Tail> resume(Session session, EventId last) {
    return resume(session.id(), last).apply(session);
  }

  /**
   * Begins to resume a stream while the session is not found yet, so that the store reads both in
   * one round trip.
   *
   * @return resumes the stream of the session, as {@link #resume(Session, EventId)} does
   */
  public Function<Session, Optional<Tail>> resume(SessionId id, EventId last) {
    if (!replay.enabled()) {
      return session -> Optional.of(listen(session, false));
    }
    Supplier<ReadResult> firstPage = tails.readAhead(id, last);
    return session -> {
      Optional<Tail> tail = tails.resume(session, last, firstPage);
      sessions.resumed(session);
      return tail;
    };
  }

  /** Whether this replica drains and clients should go to another one. */
  public boolean isDraining() {
    return admission.isDraining();
  }

  /** The number of streams that this replica writes, standalone streams included. */
  public int openStreams() {
    return pumps.streams().size();
  }

  /** Ends expired sessions and removes expired events. */
  public Sessions.EndReport sweep() {
    Sessions.EndReport report = sessions.endExpired();
    log.sweep();
    tails.sweep();
    pumps.sweep();
    return report;
  }
}
