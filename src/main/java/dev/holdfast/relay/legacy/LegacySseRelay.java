package dev.holdfast.relay.legacy;

import dev.holdfast.budget.LogRate;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.pump.Pump;
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
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The relay for clients of HTTP with SSE (2024-11-05, Transports), which follow one stream per
 * session. Each request opens a stream with an owner of its own, as for other clients. The events
 * of all these streams are in the session's shared stream, which numbers and replays them.
 *
 * <p>Thread-safe. Methods block and throw as those of {@code Relay} do.
 */
public record LegacySseRelay(
    Sessions sessions,
    SessionOpener sessionOpener,
    SessionUpstreams upstreams,
    Admission admission,
    MessageRouter router,
    StreamStarter starter,
    TailOpener tails,
    RelayListener listener) {

  private static final Logger LOG = Logger.getLogger(LegacySseRelay.class);
  private static final LogRate NOT_INITIALIZED = new LogRate(Duration.ofSeconds(1));

  /**
   * Opens a session that its client initializes later, and follows its shared stream.
   *
   * @param endpoint the URL to which the client sends messages; the stream begins with it
   * @throws RelayException.UnknownUpstream when no upstream has the name
   */
  public Tail open(String upstream, Caller opener, Function<SessionId, String> endpoint) {
    try (Admission.Pass _ = admission.enter()) {
      Session session = sessionOpener.open(upstream, opener);
      return tails.shared(session, endpoint.apply(session.id()));
    }
  }

  /** Returns true if an event id has the form of this transport. */
  public static boolean mayResume(EventId id) {
    return id.session() != null && id.stream().equals(StreamNames.SHARED);
  }

  /**
   * Resumes the shared stream of a session. A draining replica allows it too.
   *
   * @throws RelayException.EventsPurged when later events were purged and replay stops at gaps
   */
  public Tail resume(Session session, EventId last, Function<SessionId, String> endpoint) {
    if (session.isInitialized() && !admission.isDraining()) {
      starter.startListening(session);
    }
    Tail tail = tails.resumeShared(session, last, endpoint.apply(session.id()));
    sessions.resumed(session);
    return tail;
  }

  /**
   * Accepts requests. When this returns, the log records them. Each gets a response, or an error,
   * on the shared stream.
   *
   * @param onSent runs when the body is no longer held; only if this returns
   * @throws dev.holdfast.protocol.EnvelopeException when an {@code initialize} names no version
   */
  public void request(Session session, Body body, Caller sender, Runnable onSent) {
    try (Admission.Pass _ = admission.enter()) {
      listener.fromClient(body);
      StreamRef stream = StreamNames.next(session);
      Message.@Nullable Request initialize = Exchange.initializeIn(body);
      if (initialize == null) {
        request(session, stream, body, sender, onSent);
        return;
      }
      InitializeRequest parsed = InitializeRequest.read(initialize);
      Pump _ =
          starter.start(
              session,
              stream,
              body,
              UpstreamRequest.of(() -> initialize(session, initialize, parsed, sender), onSent),
              Pump.Origin.NOT_ASKED);
    }
  }

  private void request(
      Session session, StreamRef stream, Body body, Caller sender, Runnable onSent) {
    if (!router.isServedHere(session)) {
      starter.startOnOwner(session, stream, body, sender);
      onSent.run();
      return;
    }
    router.cancelRequests(session, body);
    UpstreamSession upstream = upstreams.attach(session, sender);
    Pump pump =
        starter.start(
            session,
            stream,
            body,
            UpstreamRequest.of(() -> router.request(session, upstream, body).source(), onSent),
            Pump.Origin.NOT_ASKED);
    if (upstreams.isPinned(session)) {
      pump.awaitSent();
    }
  }

  /** The messages of the upstream for the client; the response is the last. */
  private MessageSource initialize(
      Session session, Message.Request request, InitializeRequest initialize, Caller sender) {
    if (session.isInitialized()) {
      return refusal(request, "The session is initialized already");
    }
    try {
      return MessageSource.of(
          sessionOpener.initialize(session, request, initialize, sender).messages().stream()
              .map(payload -> new UpstreamMessage(payload, null))
              .toList());
    } catch (RelayException refused) {
      return refusal(request, String.valueOf(refused.getMessage()));
    } catch (LogException.SessionEnded notOpening) {
      return refusal(request, "The session is initialized already, or has ended");
    } catch (SessionStoreException | LogException away) {
      NOT_INITIALIZED.warn(
          LOG, "session not initialized session=%s reason=%s", session.id(), away.getMessage());
      return refusal(request, "The store is away; open another session");
    }
  }

  private static MessageSource refusal(Message.Request request, String text) {
    byte[] error = JsonRpcErrors.error(request.id(), JsonRpcErrorCode.INVALID_REQUEST, text);
    return MessageSource.of(List.of(new UpstreamMessage(error, null)));
  }
}
