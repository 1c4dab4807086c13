package dev.holdfast.relay.routing;

import dev.holdfast.call.Caller;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.pump.StandaloneSource;
import dev.holdfast.relay.pump.UpstreamRequest;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.retry.Backoff;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Opens the streams of sessions and starts their pumps. Thread-safe.
 *
 * @param traces null while traces are off
 */
public record StreamStarter(
    Sessions sessions,
    SessionUpstreams upstreams,
    MessageRouter router,
    EventLog log,
    Pumps pumps,
    RelayListener listener,
    @Nullable TraceListener traces) {

  /**
   * Opens a stream for requests and starts its pump. The log records the owner before the upstream
   * gets the requests, so other replicas can find every request that was sent.
   *
   * @param upstream sends the requests and returns the answer
   * @throws RelayException.SessionNotFound when the session has ended
   */
  public Pump start(
      Session session, StreamRef stream, Body body, UpstreamRequest upstream, Pump.Origin origin) {
    List<RequestId> requests = body.requestIds();
    traceOpening(stream);
    String ids = RequestId.format(requests);
    String tool = tool(body);
    try {
      StreamWriter writer = log.open(stream, ids, tool, StreamNames.sharedName(session));
      if (!tool.isEmpty()) {
        listener.calls().began(stream, ids, tool);
      }
      return start(session, writer, upstream, origin, requests);
    } catch (LogException.SessionEnded ended) {
      throw notFound(session);
    }
  }

  /** Starts the pump of a stream that this replica owns, as {@link Pumps#start} does. */
  public Pump start(
      Session session,
      StreamWriter writer,
      UpstreamRequest upstream,
      Pump.Origin origin,
      List<RequestId> requests) {
    LogKey key = StreamNames.key(session.id());
    return pumps.start(
        writer, session.upstream(), upstream, origin, requests, () -> router.collect(key));
  }

  /** The first tool that requests call; empty for none. */
  private static String tool(Body body) {
    for (Message message : body.messages()) {
      if (message instanceof Message.Request call && call.toolName() != null) {
        return call.toolName();
      }
    }
    return "";
  }

  private void traceOpening(StreamRef stream) {
    if (traces != null) {
      traces.opening(stream);
    }
  }

  private RelayException notFound(Session session) {
    sessions.forget(session);
    return new RelayException.SessionNotFound(session.id(), "ended");
  }

  /**
   * Opens a stream in the name of the replica to which a session is pinned, and sends that replica
   * the requests that the stream answers, with the scopes of their sender. It starts the pump.
   */
  public void startOnOwner(Session session, StreamRef stream, Body body, Caller sender) {
    traceOpening(stream);
    try {
      if (!router
          .inbox()
          .putRequest(
              stream,
              RequestId.format(body.requestIds()),
              tool(body),
              StreamNames.sharedName(session),
              StreamNames.STANDALONE,
              InboxRequest.format(sender.scopes(), body.bytes()))) {
        throw failed(session, new UpstreamException.SessionGone(), true);
      }
    } catch (LogException.SessionEnded ended) {
      throw notFound(session);
    }
  }

  /** Opens the standalone stream and starts its pump, unless some replica already has. */
  public void startListening(Session session) {
    if (upstreams.isPinned(session)) {
      return; // Its owner opened the stream together with the session.
    }
    StreamRef stream = StreamNames.standalone(session);
    // Before the stream is opened: after that, no other replica would start its pump.
    UpstreamSession upstream = upstreams.attach(session);
    try {
      StreamWriter writer = log.openUnfollowed(stream, StreamNames.sharedName(session));
      startListening(session, writer, upstream::listen, null);
    } catch (LogException.Fenced alreadyOpen) {
      // Some replica already runs the pump.
    }
  }

  /**
   * Starts the pump of a standalone stream that this replica owns.
   *
   * @param listen opens the upstream's stream after an event with the upstream's id
   * @param after the upstream's id of the last event in the log; null for none
   */
  public void startListening(
      Session session,
      StreamWriter writer,
      Function<@Nullable String, Optional<MessageSource>> listen,
      @Nullable String after) {
    MessageSource source =
        new StandaloneSource(
            listen,
            after,
            failure -> listener.upstreamFailed(session.upstream(), failure),
            Backoff.UPSTREAM,
            () -> sessions.endedByServer(session),
            writer::release);
    Pump _ = start(session, writer, () -> source, Pump.Origin.NOT_ASKED, List.of());
  }

  /**
   * The exception that a client gets for a failure of the upstream. A session that the server has
   * ended ends here too.
   *
   * @param count whether to report the failure to the listener
   */
  public RuntimeException failed(Session session, UpstreamException failure, boolean count) {
    if (count) {
      listener.upstreamFailed(session.upstream(), failure);
    }
    if (!(failure instanceof UpstreamException.SessionGone)) {
      return failure;
    }
    if (router.isReopening(session)) {
      return new UpstreamException.Busy(); // The server has not seen the request.
    }
    sessions.end(session);
    return new RelayException.SessionNotFound(session.id(), "lost by its server");
  }
}
