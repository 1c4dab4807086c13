package dev.holdfast.relay.routing;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.FencedException;
import dev.holdfast.log.SessionEndedException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.pump.PendingRequests;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.pump.RequestIds;
import dev.holdfast.relay.pump.StandaloneSource;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.MessageKind;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.retry.Backoff;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.FixedMessageSource;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.function.Supplier;

/** Opens the streams of sessions, and starts what writes them. Thread-safe. */
public final class StreamStarter {

  private final Sessions sessions;
  private final MessageRouter outbound;
  private final EventLog log;
  private final Pumps pumps;
  private final RelayListener listener;

  public StreamStarter(Sessions sessions, Parts parts, MessageRouter outbound) {
    this.sessions = sessions;
    this.outbound = outbound;
    this.log = parts.log();
    this.pumps = parts.pumps();
    this.listener = parts.listener();
  }

  /** A client has sent something. */
  public void heard(Body body) {
    PendingRequests.messagesOf(body).forEach(each -> listener.fromClient(MessageKind.of(each)));
  }

  /**
   * Opens a stream for requests and begins to write it.
   *
   * @throws RelayException.SessionNotFound when the session has ended
   */
  public Pump start(
      Session session,
      StreamRef stream,
      Body body,
      Supplier<MessageSource> upstream,
      Pump.Origin origin) {
    List<RequestId> requests = PendingRequests.idsOf(body);
    // The owner is on record before the upstream is asked, so nothing is ever asked for nobody.
    StreamWriter writer = open(session, stream, requests);
    return start(writer, upstream, origin, requests);
  }

  private StreamWriter open(Session session, StreamRef stream, List<RequestId> requests) {
    try {
      return log.open(stream, RequestIds.write(requests), StreamNames.keptIn(session));
    } catch (SessionEndedException ended) {
      sessions.forget(session);
      throw new RelayException.SessionNotFound();
    }
  }

  private Pump start(
      StreamWriter writer,
      Supplier<MessageSource> upstream,
      Pump.Origin origin,
      List<RequestId> requests) {
    String session = writer.stream().session();
    return pumps.start(writer, upstream, origin, requests, () -> outbound.collect(session));
  }

  /** Has the replica in which the session lives open the stream for requests, and write it. */
  public void startElsewhere(Session session, StreamRef stream, Body body) {
    try {
      outbound.ask(session, stream, body);
    } catch (SessionEndedException ended) {
      sessions.forget(session);
      throw new RelayException.SessionNotFound();
    } catch (UpstreamException failure) {
      throw failed(session, failure, true);
    }
  }

  /** Begins to write the standalone stream, unless some replica does so already. */
  public void startListening(Session session) {
    if (sessions.keepsSessions(session)) {
      return; // Its home has written it from the beginning.
    }
    StreamRef stream = StreamNames.standalone(session);
    // Before the stream is opened: once it is, nobody else would start its pump.
    UpstreamSession upstream = sessions.upstream(session);
    try {
      StreamWriter writer = log.open(stream, "", StreamNames.keptIn(session));
      MessageSource source =
          new StandaloneSource(
              upstream::listen,
              null,
              listener,
              Backoff.UPSTREAM,
              () -> sessions.endedByServer(session));
      Pump _ = start(writer, () -> source, Pump.Origin.TO_ASK, List.of());
    } catch (FencedException alreadyWritten) {
      return;
    }
  }

  /**
   * What a client is told.
   *
   * @param count whether nobody has counted this failure yet, as a pump does
   */
  public RuntimeException failed(Session session, UpstreamException failure, boolean count) {
    if (count) {
      listener.upstreamFailed(failure);
    }
    if (failure instanceof UpstreamException.SessionGone) {
      if (outbound.mayComeBack(session)) {
        // It has seen nothing, and is being opened anew.
        return new UpstreamException.Busy();
      }
      sessions.end(session);
      return new RelayException.SessionNotFound();
    }
    return failure;
  }

  public static MessageSource sourceOf(Answer answer) {
    return switch (answer) {
      case Answer.Json json -> new FixedMessageSource(json.json());
      case Answer.Stream stream -> stream.source();
    };
  }
}
