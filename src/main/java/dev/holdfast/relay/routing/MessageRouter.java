package dev.holdfast.relay.routing;

import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.ownership.Inbox;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.pump.PendingRequests;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.pump.RequestIds;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.UpstreamException;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Brings what a client sends that asks for no answer, notifications and responses, to whom it
 * concerns, on whichever replica it lands: a cancellation to the pump of the stream that it ends,
 * and everything to the upstream. Most upstreams are reached from any replica; to those that run
 * calls {@link dev.holdfast.upstream.Upstream#isResident() inside a replica}, it goes through the
 * inbox of the session. Where a session lives in one replica, everything comes to that, also what
 * {@link #ask asks}. Thread-safe.
 */
public final class MessageRouter {

  private static final Logger LOG = Logger.getLogger(MessageRouter.class);

  private final Sessions sessions;
  private final Inbox inbox;
  private final Pumps pumps;
  private final PinnedSessions homes;
  private final RelayListener listener;

  /** Receives from now on what other replicas put into the inboxes of sessions. */
  public MessageRouter(Sessions sessions, Parts parts) {
    this.sessions = sessions;
    this.inbox = parts.inbox();
    this.pumps = parts.pumps();
    this.homes = parts.homes();
    this.listener = parts.listener();
    inbox.setReceiver(new Receiver());
  }

  /**
   * Whether the upstream is spoken to from here: always, unless the session lives elsewhere.
   * Returns when the upstream has had what was sent in the session before, through whichever
   * replica.
   */
  public boolean reaches(Session session) {
    if (!sessions.keepsSessions(session)) {
      return true;
    }
    PinnedSession home = homes.find(session.id().value());
    if (home != null) {
      homes.settle(session.id().value(), home);
    }
    return home != null;
  }

  /**
   * Has the home of a session answer a request on a new stream.
   *
   * @throws UpstreamException.SessionGone when the session has no home any more
   * @throws dev.holdfast.log.SessionEndedException when there is no such session
   */
  void ask(Session session, StreamRef stream, Body body) {
    String requests = RequestIds.write(PendingRequests.idsOf(body));
    String into = StreamNames.keptIn(session);
    if (!inbox.putRequest(stream, requests, into, StreamNames.STANDALONE, body.bytes())) {
      throw new UpstreamException.SessionGone();
    }
  }

  /** Whether a session that must have a home has one. */
  public boolean hasHome(Session session) {
    return homes.find(session.id().value()) != null
        || inbox.isOpen(StreamNames.standalone(session));
  }

  /** Whether a session is here whose server is lost, but can be opened anew. */
  boolean mayComeBack(Session session) {
    PinnedSession home = homes.find(session.id().value());
    return home != null && home.reopens();
  }

  /**
   * Sends notifications or responses.
   *
   * @throws UpstreamException when the upstream did not take it
   */
  public void send(Session session, Body body) {
    if (!reaches(session)) {
      if (!inbox.put(StreamNames.standalone(session), body.bytes())) {
        throw new UpstreamException.SessionGone();
      }
      return;
    }
    withdraw(session, body);
    sessions.upstream(session).send(body);
    if (sessions.isResident(session)) {
      PendingRequests.messagesOf(body).stream()
          .filter(message -> cancelled(message) == null)
          .forEach(message -> inbox.putForOthers(session.id().value(), message.bytes()));
    }
  }

  /**
   * Ends the streams that a client no longer wants, wherever they are pumped. Before the upstream
   * hears of it: once it has, it may close its side, and that must not look like an answer that
   * broke off.
   */
  public void withdraw(Session session, Body body) {
    for (Message message : PendingRequests.messagesOf(body)) {
      RequestId cancelled = cancelled(message);
      if (cancelled != null && !pumps.cancel(session.id().value(), cancelled)) {
        passOn(session, cancelled, message);
      }
    }
  }

  private static @Nullable RequestId cancelled(Message message) {
    return message instanceof Message.Notification notification
        ? notification.cancelledRequestId()
        : null;
  }

  /** To the owner of the stream that answers the request. When there is none, the two crossed. */
  private void passOn(Session session, RequestId cancelled, Message message) {
    for (Inbox.OpenCall call : inbox.openCalls(session.id().value())) {
      if (RequestIds.read(call.requests()).contains(cancelled)) {
        boolean open = inbox.put(call.stream(), message.bytes());
        LOG.debugf("stream=%s is cancelled from elsewhere, open=%s", call.stream(), open);
      }
    }
  }

  /**
   * Receives at once what waits for streams that are owned here, as far as the store can be had.
   */
  public void collect(String session) {
    try {
      inbox.collect(session);
    } catch (StoreUnavailableException away) {
      LOG.debugf("an inbox is left for later: %s", away.getMessage());
    }
  }

  private final class Receiver implements Inbox.Receiver {

    @Override
    public void receive(Inbox.Message letter) {
      try {
        boolean forHome = letter.writer() != null || homes.find(letter.session()) != null;
        Optional<Session> recorded =
            forHome
                ? Optional.empty()
                : SessionId.parse(letter.session()).flatMap(sessions::recorded);
        if (forHome || recorded.filter(sessions::keepsSessions).isPresent()) {
          homes.received(letter);
          return;
        }
        Body body = Envelopes.read(letter.message());
        for (Message message : PendingRequests.messagesOf(body)) {
          RequestId cancelled = cancelled(message);
          if (cancelled != null) {
            letter.streams().forEach(stream -> pumps.cancel(stream, cancelled));
          }
        }
        recorded
            .filter(sessions::isResident)
            .ifPresent(session -> sessions.upstream(session).send(body));
      } catch (SessionStoreException away) {
        throw new StoreUnavailableException("the session of a letter is not known", away);
      } catch (UpstreamException failure) {
        listener.upstreamFailed(failure);
      } catch (EnvelopeException unreadable) {
        LOG.warnf("a letter is no message: %s", unreadable.getMessage());
      }
    }

    /** Lets go of what a session still has running here that may say nothing for long. */
    @Override
    public void sessionEnded(String session) {
      pumps.stop(session);
    }
  }
}
