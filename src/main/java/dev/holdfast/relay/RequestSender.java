package dev.holdfast.relay;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.relay.attach.AttachedCalls;
import dev.holdfast.relay.attach.Attachment;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.pump.UpstreamRequest;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import org.jboss.logging.Logger;

/** Sends messages of clients to the upstreams of their sessions. */
public record RequestSender(
    SessionUpstreams upstreams,
    MessageRouter router,
    StreamStarter starter,
    TailOpener tails,
    Admission admission,
    RelayListener listener,
    StreamConfig streams,
    AttachedCalls attached) {

  private static final Logger LOG = Logger.getLogger(RequestSender.class);

  /**
   * Time for which the response head of a durable stream waits for the upstream's answer, so that
   * an immediate failure becomes a status. It is short: before the head, a client cannot resume.
   */
  private static final Duration HEAD_DELAY = Duration.ofMillis(50);

  /**
   * The same without a session: such a client cannot resume, and revision 2026-07-28 has statuses.
   */
  private static final Duration STATELESS_HEAD_DELAY = Duration.ofSeconds(1);

  /** Returns whether the log gets a stream for the answer before the upstream gets the body. */
  boolean isDurable(Body body) {
    return tails.replay().enabled()
        && (streams.durable() == StreamConfig.Durable.ALL
            || switch (body) {
              case Body.Single(Message.Request request) ->
                  request.method().equals(Methods.TOOLS_CALL);
              case Body.Single _ -> false;
              // Several responses need a stream that ends with the last of them.
              case Body.Batch _ -> true;
            });
  }

  /**
   * Sends a request over Streamable HTTP, or a batch with requests, and returns its answer.
   *
   * @param onSent runs when the body is no longer held; only if the answer is a stream
   */
  public Reply request(Session session, Exchange exchange, Runnable onSent) {
    Body body = exchange.body();
    try (Admission.Pass _ = admission.enter()) {
      listener.fromClient(body);
      if (!router.isServedHere(session)) {
        Reply reply = requestFromOwner(session, exchange);
        onSent.run();
        return reply;
      }
      router.cancelRequests(session, body);
      return requestFromUpstream(session, exchange, onSent);
    }
  }

  private Reply requestFromOwner(Session session, Exchange exchange) {
    return unlessRepeated(
        session,
        exchange,
        (stream, call, _) -> {
          call.confirmation().run();
          starter.startOnOwner(session, stream, exchange.body(), exchange.caller());
          return false;
        });
  }

  /** Starts calls. */
  private interface Start {
    /**
     * Opens the stream of a call, and waits that long for the upstream.
     *
     * @return true if the log has all of the stream
     */
    boolean start(StreamRef stream, Attachment call, Duration most);
  }

  /** Starts a call, or follows the one that it repeats. */
  private Reply unlessRepeated(Session session, Exchange exchange, Start start) {
    StreamRef stream = StreamNames.next(session);
    // Before the server gets the call, so that a repetition finds every call that was sent.
    Attachment call = attached.begin(session, stream, exchange);
    if (call.first() != null) {
      return new Reply.Stream(call.first());
    }
    try {
      // The end of a connection is noticed after the head.
      Duration most = call.receipt() == null ? headDelay(session, exchange) : HEAD_DELAY;
      boolean complete = start.start(stream, call, most);
      Tail tail = tails.ofRequests(session, stream, exchange.body().requestIds());
      return new Reply.Stream(call.following(tail), complete);
    } catch (Throwable failure) {
      call.failed();
      throw failure;
    }
  }

  private Reply requestFromUpstream(Session session, Exchange exchange, Runnable onSent) {
    Body body = exchange.body();
    UpstreamSession upstream = upstreams.attach(session, exchange.caller());
    try {
      if (isDurable(body)) {
        Reply reply =
            unlessRepeated(
                session,
                exchange,
                (stream, call, most) ->
                    starter
                        .start(
                            session,
                            stream,
                            body,
                            sending(session, upstream, body, call, onSent),
                            Pump.Origin.NOT_ASKED)
                        .awaitUpstream(most));
        if (reply instanceof Reply.Stream(Tail tail, _) && tail.isRepeating()) {
          onSent.run();
        }
        return reply;
      }
      return switch (router.request(session, upstream, body)) {
        case Answer.Json json -> {
          body.requestIds().forEach(_ -> listener.fromUpstream(RelayListener.MessageKind.RESPONSE));
          json.release().run();
          yield new Reply.Json(json.json(), 200);
        }
        case Answer.Stream stream -> {
          Reply reply = durableAnswer(session, exchange, stream);
          onSent.run();
          yield reply;
        }
      };
    } catch (UpstreamException failure) {
      throw starter.failed(session, failure, !isDurable(body));
    }
  }

  private UpstreamRequest sending(
      Session session, UpstreamSession upstream, Body body, Attachment call, Runnable onSent) {
    return UpstreamRequest.of(
        () -> {
          call.confirmation().run();
          return router.request(session, upstream, body).source();
        },
        onSent);
  }

  private static Duration headDelay(Session session, Exchange exchange) {
    return session.version().hasSessions()
            && !(exchange.conversation() instanceof Conversation.Single)
        ? HEAD_DELAY
        : STATELESS_HEAD_DELAY;
  }

  private Reply durableAnswer(Session session, Exchange exchange, Answer.Stream answer) {
    Body body = exchange.body();
    StreamRef stream = StreamNames.next(session);
    try {
      boolean complete =
          starter
              .start(session, stream, body, answer::source, Pump.Origin.ASKED)
              .awaitUpstream(headDelay(session, exchange));
      return new Reply.Stream(tails.ofRequests(session, stream, body.requestIds()), complete);
    } catch (Throwable failure) {
      answer.source().close();
      throw failure;
    }
  }

  /** Sends notifications or responses. */
  public void send(Session session, Body body, Caller caller) {
    listener.fromClient(body);
    try {
      router.send(session, body, caller);
    } catch (UpstreamException failure) {
      throw starter.failed(session, failure, true);
    }
    if (body.messages().stream().anyMatch(Message::isInitialized)) {
      if (upstreams.isPinned(session)) {
        // A reopened server needs it.
        upstreams.server(session).recordInitialized();
      }
      if (!upstreams.isSilent(session)) {
        startListeningUnlessDraining(session);
      }
    }
  }

  private void startListeningUnlessDraining(Session session) {
    try (Admission.Pass _ = admission.enterIfNotDraining()) {
      starter.startListening(session);
    } catch (RelayException.Draining draining) {
      LOG.debugf("another replica will listen to the upstream session=%s", session.id());
    }
  }

  /**
   * Checks that the version of a session allows a body that is not an {@code initialize}. Batches
   * exist in 2025-03-26 only. They hold either responses or other messages (Transports), and no
   * {@code initialize} (Lifecycle).
   *
   * @throws RelayException.InvalidBatch if it does not
   */
  static void checkBatch(Session session, Body body) {
    if (!(body instanceof Body.Batch(List<Message> messages, byte[] _))) {
      return;
    }
    if (!session.version().hasBatches()) {
      throw new RelayException.InvalidBatch(
          "Batches are not part of protocol version " + session.version().wire());
    }
    long responses = messages.stream().filter(Message.Response.class::isInstance).count();
    if (responses != 0 && responses != messages.size()) {
      throw new RelayException.InvalidBatch(
          "A batch holds either responses or requests and notifications");
    }
    if (messages.stream().anyMatch(each -> each instanceof Message.Request r && r.isInitialize())) {
      throw new RelayException.InvalidBatch("initialize cannot be part of a batch");
    }
  }
}
