package dev.holdfast.relay.routing;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.pump.UpstreamRequest;
import dev.holdfast.relay.session.PinnedServer;
import dev.holdfast.relay.stream.OperatorCancellation;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The sessions that are pinned to this replica, because their server {@link
 * dev.holdfast.upstream.Placement.Pinned lives} in this process. A session is pinned to the owner
 * of its standalone stream, which stays open until the server is lost for good. Thread-safe.
 */
public final class PinnedSessions {

  private static final Logger LOG = Logger.getLogger(PinnedSessions.class);

  /** Stands for the upstream of a session that is no longer known here. */
  static final String NO_UPSTREAM = "";

  private final Inbox inbox;
  private final Pumps pumps;
  private final RelayListener listener;
  private final Map<LogKey, PinnedSession> sessions = new ConcurrentHashMap<>();

  /** Creates a registry without sessions. */
  public PinnedSessions(Inbox inbox, Pumps pumps, RelayListener listener) {
    this.inbox = inbox;
    this.pumps = pumps;
    this.listener = listener;
  }

  @Nullable PinnedSession find(LogKey session) {
    return sessions.get(session);
  }

  /**
   * Pins a session until its server is lost for good.
   *
   * @param standalone the writer of the session's standalone stream
   * @param lost whether the server was lost with another replica and must be reopened here
   * @param after the server's id of the last event on the standalone stream; null for none
   */
  public void pin(
      StreamWriter standalone, PinnedServer server, boolean lost, @Nullable String after) {
    LogKey id = standalone.stream().key();
    PinnedSession session =
        new PinnedSession(server, lost, after, listener, closed -> sessions.remove(id, closed));
    sessions.put(id, session);
    Pump _ =
        pumps.start(
            standalone,
            session.upstreamName(),
            () -> session,
            Pump.Origin.PINNED_SESSION,
            List.of(),
            () -> {});
  }

  /** Lets earlier messages from other replicas reach the server before the next message. */
  void settle(LogKey id, PinnedSession session) {
    inbox.collect(id);
    session.settle();
  }

  /** Receives an inbox message for a pinned session. It stays in the inbox after a failure. */
  void receive(Inbox.Message message) {
    PinnedSession session = sessions.get(message.key());
    StreamWriter writer = message.writer();
    if (writer != null) {
      listener.calls().received(writer.stream());
    }
    if (session == null) {
      if (writer == null) {
        throw new LogException.StoreUnavailable("the session is not pinned here yet", null);
      }
      // The session is no longer pinned. No other replica ends this stream.
      Body body = Envelopes.read(InboxRequest.parse(message.message()).body());
      Pump _ = start(writer, NO_UPSTREAM, body, PinnedSessions::sessionGone);
    } else if (!session.runInOrder(
        message.message().length > ByteBudget.UNCOUNTED ? message.message().length : 0,
        release ->
            deliver(session.upstreamName(), () -> handle(session, writer, message, release)))) {
      throw new LogException.InboxFull();
    }
  }

  private static MessageSource sessionGone() {
    throw new UpstreamException.SessionGone();
  }

  /**
   * Gives a message to the server.
   *
   * @param release gives back its bytes, once it is sent or never will be
   */
  private void handle(
      PinnedSession session,
      @Nullable StreamWriter writer,
      Inbox.Message message,
      Runnable release) {
    try {
      InboxRequest request = InboxRequest.parse(message.message());
      Body body = Envelopes.read(request.body());
      boolean byOperator = OperatorCancellation.is(body);
      body.cancelledRequestIds()
          .forEach(id -> {
            if (byOperator) {
              message.streams().forEach(stream -> pumps.cancel(stream, id, true));
            } else {
              var _ = pumps.cancel(message.key(), id);
            }
          });
      if (writer != null) {
        UpstreamSession upstream = session.upstream(request.scopes());
        // A server that does not read may keep the pump for longer than this task waits.
        start(
                writer,
                session.upstreamName(),
                body,
                UpstreamRequest.of(() -> upstream.request(body).source(), release))
            .awaitSent();
      } else {
        session.upstream(Set.of()).send(body);
        release.run();
      }
    } catch (RuntimeException failure) {
      release.run();
      throw failure;
    }
  }

  /** Delivers an inbox message. A failure is only reported and logged. */
  void deliver(String upstreamName, Runnable delivery) {
    try {
      delivery.run();
    } catch (UpstreamException failure) {
      listener.upstreamFailed(upstreamName, failure);
    } catch (EnvelopeException invalid) {
      LOG.warnf("inbox message is no JSON-RPC reason=%s", invalid.getMessage());
    }
  }

  private Pump start(StreamWriter writer, String upstreamName, Body body, UpstreamRequest request) {
    return pumps.start(
        writer, upstreamName, request, Pump.Origin.NOT_ASKED, body.requestIds(), () -> {});
  }
}
