package dev.holdfast.relay.routing;

import dev.holdfast.call.Caller;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.OperatorCancellation;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * Routes messages of clients, on whichever replica they arrive. A cancellation goes to the pump of
 * the stream that it ends, and every message goes to the upstream. Most upstreams are reachable
 * from any replica. Messages for calls that {@link dev.holdfast.upstream.Placement.InProcess run
 * inside a replica} go through the inbox of the session, and so do all messages of a session that
 * is pinned to another replica. Thread-safe.
 */
public record MessageRouter(
    Sessions sessions,
    SessionUpstreams upstreams,
    Inbox inbox,
    Pumps pumps,
    PinnedSessions pinned) {

  private static final Logger LOG = Logger.getLogger(MessageRouter.class);

  /** Starts to receive the messages that other replicas put into the inboxes of sessions. */
  public void start() {
    inbox.setReceiver(new Receiver());
  }

  /**
   * Returns true if this replica sends to the upstream: always, unless the session is pinned to
   * another replica. Returns when the upstream has all earlier messages of the session.
   */
  public boolean isServedHere(Session session) {
    if (!upstreams.isPinned(session)) {
      return true;
    }
    PinnedSession here = pinned.find(StreamNames.key(session.id()));
    if (here != null) {
      pinned.settle(StreamNames.key(session.id()), here);
    }
    return here != null;
  }

  /** Returns true if a replica serves a session that must be pinned to one. */
  public boolean hasOwner(Session session) {
    return pinned.find(StreamNames.key(session.id())) != null
        || inbox.isOpen(StreamNames.standalone(session));
  }

  /** Returns true if a session is pinned here and outlives the loss of its server. */
  boolean isReopening(Session session) {
    PinnedSession here = pinned.find(StreamNames.key(session.id()));
    return here != null && here.canReopen();
  }

  /**
   * Sends notifications or responses to the upstream.
   *
   * @param sender who sends them; a message that goes through another replica has those of the
   *     session instead
   * @throws UpstreamException when the upstream did not take them
   */
  public void send(Session session, Body body, Caller sender) {
    if (!isServedHere(session)) {
      if (!inbox.put(StreamNames.standalone(session), body.bytes())) {
        throw new UpstreamException.SessionGone();
      }
      return;
    }
    cancelRequests(session, body);
    upstreams.attach(session, sender).send(body);
    tellOthers(session, body);
  }

  /**
   * Sends requests to the upstream's side of a session. Another replica may have the standalone
   * stream, which brings what the session subscribes to, so it learns of those requests.
   */
  public Answer request(Session session, UpstreamSession upstream, Body body) {
    Answer answer = upstream.request(body);
    try {
      if (body instanceof Body.Single(Message.Request request)
          && upstream.concernsOthers(request)) {
        tellOthers(session, body);
      }
      return answer;
    } catch (Throwable failure) {
      answer.source().close();
      throw failure;
    }
  }

  private void tellOthers(Session session, Body body) {
    if (upstreams.runsInProcess(session)) {
      body.messages().stream()
          // No replica has calls before notifications/initialized.
          .filter(message -> message.cancelledRequestId() == null && !message.isInitialized())
          .forEach(message -> inbox.putForOthers(StreamNames.key(session.id()), message.bytes()));
    }
  }

  /**
   * Ends the streams of cancelled requests, on whichever replica their pumps run. The upstream gets
   * the cancellation afterwards: it may close its answer then, and that must not look like a broken
   * answer.
   */
  public void cancelRequests(Session session, Body body) {
    Map<RequestId, Message> elsewhere = new HashMap<>();
    for (Message message : body.messages()) {
      RequestId cancelled = message.cancelledRequestId();
      if (cancelled != null && !pumps.cancel(StreamNames.key(session.id()), cancelled)) {
        elsewhere.put(cancelled, message);
      }
    }
    if (!elsewhere.isEmpty()) {
      forwardCancellations(session, elsewhere);
    }
  }

  /** Finds no stream when the response and the cancellation crossed. */
  private void forwardCancellations(Session session, Map<RequestId, Message> cancellations) {
    for (Inbox.OpenCall call : inbox.openCalls(StreamNames.key(session.id()))) {
      for (RequestId request : RequestId.parse(call.requests())) {
        Message cancellation = cancellations.get(request);
        if (cancellation != null) {
          boolean open = inbox.put(call.stream(), cancellation.bytes());
          LOG.debugf("cancellation forwarded stream=%s open=%s", call.stream(), open);
        }
      }
    }
  }

  /** Receives the inbox messages for streams that this replica owns, if the store is reachable. */
  public void collect(LogKey session) {
    try {
      inbox.collect(session);
    } catch (LogException.StoreUnavailable away) {
      LOG.debugf("inbox not collected: %s", away.getMessage());
    }
  }

  private final class Receiver implements Inbox.Receiver {

    @Override
    public void receive(Inbox.Message message) {
      try {
        deliver(message);
      } catch (EnvelopeException invalid) {
        LOG.warnf("inbox message is no JSON-RPC reason=%s", invalid.getMessage());
      } catch (SessionStoreException away) {
        throw new LogException.StoreUnavailable(
            "the session of an inbox message is not known", away);
      }
    }

    private void deliver(Inbox.Message message) {
      boolean isPinned = message.writer() != null || pinned.find(message.key()) != null;
      Optional<Session> session =
          isPinned
              ? Optional.empty()
              : SessionId.parse(message.key().value()).flatMap(sessions::peek);
      if (isPinned || session.filter(upstreams::isPinned).isPresent()) {
        pinned.receive(message);
        return;
      }
      Body body = Envelopes.read(message.message());
      boolean byOperator = OperatorCancellation.is(body);
      for (RequestId cancelled : body.cancelledRequestIds()) {
        message.streams().forEach(stream -> pumps.cancel(stream, cancelled, byOperator));
      }
      session
          .filter(found -> byOperator || upstreams.runsInProcess(found))
          .ifPresent(
              found -> pinned.deliver(found.upstream(), () -> upstreams.attach(found).told(body)));
    }

    /** Stops the pumps of the session: a silent upstream may never end their streams. */
    @Override
    public void ended(LogKey session) {
      pumps.stop(session);
    }
  }
}
