package dev.holdfast.relay;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.InboxFullException;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
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
final class Homes {

  private static final Logger LOG = Logger.getLogger(Homes.class);

  /** How long a request may hold up what was sent after it: enough for the server to read it. */
  private static final Duration IN_HAND = Duration.ofMillis(50);

  private final Inbox inbox;
  private final Pumps pumps;
  private final RelayListener listener;
  private final Map<String, Home> here = new ConcurrentHashMap<>();

  Homes(Inbox inbox, Pumps pumps, RelayListener listener) {
    this.inbox = inbox;
    this.pumps = pumps;
    this.listener = listener;
  }

  @Nullable Home find(String session) {
    return here.get(session);
  }

  /**
   * From now on the session lives here.
   *
   * @param standalone writes its standalone stream
   * @param lost whether its server was lost with another replica
   */
  void add(StreamWriter standalone, Home.Server server, boolean lost) {
    String session = standalone.stream().session();
    Home home =
        new Home(server, lost, Backoff.UPSTREAM, listener, each -> here.remove(session, each));
    here.put(session, home);
    Pump _ = pumps.start(standalone, () -> home, Pump.Origin.HOME, List.of(), () -> {});
  }

  /**
   * Lets what was sent in the session through other replicas arrive before what is sent here next.
   */
  void settle(String session, Home home) {
    inbox.collect(session);
    home.settle();
  }

  /**
   * Takes a letter for a session that lives here, or has.
   *
   * @throws StoreUnavailableException when it can't be taken yet
   */
  void received(Inbox.Letter letter) {
    Home home = here.get(letter.session());
    StreamWriter writer = letter.writer();
    if (home == null) {
      if (writer == null) {
        throw new StoreUnavailableException("the session does not live here yet", null);
      }
      // Its home is no more: nobody else ends this stream.
      Body unsent = Envelopes.read(letter.message());
      Pump _ = start(writer, unsent, Homes::nobody);
    } else if (!home.later(letter.message().length, () -> handle(home, writer, letter))) {
      throw new InboxFullException();
    }
  }

  private static MessageSource nobody() {
    throw new UpstreamException.SessionGone();
  }

  private void handle(Home home, @Nullable StreamWriter writer, Inbox.Letter letter) {
    try {
      Body body = Envelopes.read(letter.message());
      withdraw(letter.session(), body);
      if (writer != null) {
        start(writer, body, () -> Calls.sourceOf(home.upstream().request(body)))
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
