package dev.holdfast.relay.routing;

import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.ownership.Inbox;
import dev.holdfast.log.ownership.InboxFullException;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.pump.PendingRequests;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The sessions that live in this replica, because their server {@link
 * dev.holdfast.upstream.Upstream#keepsSessions keeps them} in this process. The home of a session
 * is the owner of its standalone stream, which is open from the beginning of the session until its
 * server is lost for good. Thread-safe.
 */
public final class PinnedSessions {

  private static final Logger LOG = Logger.getLogger(PinnedSessions.class);

  /** How long a request may hold up what was sent after it: enough for the server to read it. */
  private static final Duration IN_HAND = Duration.ofMillis(50);

  private final Inbox inbox;
  private final Pumps pumps;
  private final RelayListener listener;
  private final Map<String, PinnedSession> here = new ConcurrentHashMap<>();

  public PinnedSessions(Inbox inbox, Pumps pumps, RelayListener listener) {
    this.inbox = inbox;
    this.pumps = pumps;
    this.listener = listener;
  }

  @Nullable PinnedSession find(String session) {
    return here.get(session);
  }

  /**
   * From now on the session lives here.
   *
   * @param standalone writes its standalone stream
   * @param lost whether its server was lost with another replica
   */
  public void add(StreamWriter standalone, PinnedSession.Server server, boolean lost) {
    String session = standalone.stream().session();
    PinnedSession home =
        new PinnedSession(
            server, lost, Backoff.UPSTREAM, listener, each -> here.remove(session, each));
    here.put(session, home);
    Pump _ = pumps.start(standalone, () -> home, Pump.Origin.HOME, List.of(), () -> {});
  }

  /**
   * Lets what was sent in the session through other replicas arrive before what is sent here next.
   */
  void settle(String session, PinnedSession home) {
    inbox.collect(session);
    home.settle();
  }

  /**
   * Takes a letter for a session that lives here, or has.
   *
   * @throws StoreUnavailableException when it can't be taken yet
   */
  void received(Inbox.Message letter) {
    PinnedSession home = here.get(letter.session());
    StreamWriter writer = letter.writer();
    if (home == null) {
      if (writer == null) {
        throw new StoreUnavailableException("the session does not live here yet", null);
      }
      // Its home is no more: nobody else ends this stream.
      Body unsent = Envelopes.read(letter.message());
      Pump _ = start(writer, unsent, PinnedSessions::nobody);
    } else if (!home.later(letter.message().length, () -> handle(home, writer, letter))) {
      throw new InboxFullException();
    }
  }

  private static MessageSource nobody() {
    throw new UpstreamException.SessionGone();
  }

  private void handle(PinnedSession home, @Nullable StreamWriter writer, Inbox.Message letter) {
    try {
      Body body = Envelopes.read(letter.message());
      withdraw(letter.session(), body);
      if (writer != null) {
        start(writer, body, () -> StreamStarter.sourceOf(home.upstream().request(body)))
            .awaitFirstSign(IN_HAND);
      } else {
        home.upstream().send(body);
      }
    } catch (UpstreamException failure) {
      if (writer == null) {
        listener.upstreamFailed(failure);
      }
    } catch (EnvelopeException unreadable) {
      LOG.warnf("a letter is no message: %s", unreadable.getMessage());
    }
  }

  private void withdraw(String session, Body body) {
    for (Message message : PendingRequests.messagesOf(body)) {
      if (message instanceof Message.Notification notification) {
        RequestId cancelled = notification.cancelledRequestId();
        boolean _ = cancelled != null && pumps.cancel(session, cancelled);
      }
    }
  }

  private Pump start(StreamWriter writer, Body body, Supplier<MessageSource> source) {
    List<RequestId> requests = PendingRequests.idsOf(body);
    return pumps.start(writer, source, Pump.Origin.TO_ASK, requests, () -> {});
  }
}
