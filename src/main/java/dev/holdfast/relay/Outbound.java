package dev.holdfast.relay;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.UpstreamException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Brings what a client sends that asks for no answer, notifications and responses, to whom it
 * concerns, on whichever replica it lands: a cancellation to the pump of the stream that it ends,
 * and everything to the upstream. Most upstreams are reached from any replica; to those that run
 * calls {@link dev.holdfast.upstream.Upstream#isResident() inside a replica}, it goes through the
 * inbox of the session. Thread-safe.
 */
public final class Outbound {

  private static final Logger LOG = Logger.getLogger(Outbound.class);

  private final Sessions sessions;
  private final Inbox inbox;
  private final Pumps pumps;
  private final RelayListener listener;

  /** Receives from now on what other replicas put into the inboxes of sessions. */
  public Outbound(Sessions sessions, Parts parts) {
    this.sessions = sessions;
    this.inbox = parts.inbox();
    this.pumps = parts.pumps();
    this.listener = parts.listener();
    inbox.receive(new Receiver());
  }

  /**
   * Sends notifications or responses.
   *
   * @throws UpstreamException when the upstream did not take it
   */
  void send(Session session, Body body) {
    withdraw(session, body);
    sessions.upstream(session).send(body);
    if (sessions.isResident(session)) {
      PendingRequests.messagesOf(body).stream()
          .filter(message -> cancelled(message) == null)
          .forEach(message -> inbox.putElsewhere(session.id().value(), message.bytes()));
    }
  }

  /**
   * Ends the streams that a client no longer wants, wherever they are pumped. Before the upstream
   * hears of it: once it has, it may close its side, and that must not look like an answer that
   * broke off.
   */
  void withdraw(Session session, Body body) {
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
  void collect(String session) {
    try {
      inbox.collect(session);
    } catch (StoreUnavailableException away) {
      LOG.debugf("an inbox is left for later: %s", away.getMessage());
    }
  }

  private final class Receiver implements Inbox.Receiver {

    @Override
    public void received(Inbox.Letter letter) {
      try {
        Body body = Envelopes.read(letter.message());
        for (Message message : PendingRequests.messagesOf(body)) {
          RequestId cancelled = cancelled(message);
          if (cancelled != null) {
            letter.streams().forEach(stream -> pumps.cancel(stream, cancelled));
          }
        }
        SessionId.parse(letter.session())
            .flatMap(sessions::recorded)
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
    public void ended(String session) {
      pumps.stop(session);
    }
  }
}
