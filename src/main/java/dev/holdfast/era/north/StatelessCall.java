package dev.holdfast.era.north;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.stream.StreamNames;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * A call of a client without a session, and what is done in its session beside it. Thread-safe.
 *
 * @param session where the call runs
 * @param endsSession true if the session ends with the call
 * @param id raw id of the request in the session; empty while it is not known
 */
record StatelessCall(
    StatelessContext context,
    String upstream,
    Caller caller,
    SessionId session,
    boolean endsSession,
    String id) {

  private static final Logger LOG = Logger.getLogger(StatelessCall.class);

  /** Time after which a client that has come back is looked for again. */
  private static final Duration AGAIN = Duration.ofSeconds(1);

  /** A call of the sender of a request. */
  static StatelessCall of(
      StatelessContext context,
      Exchange exchange,
      SessionId session,
      boolean endsSession,
      String id) {
    return new StatelessCall(
        context, exchange.upstream(), exchange.caller(), session, endsSession, id);
  }

  /** The same call, of which the id is known now. */
  StatelessCall withId(String known) {
    return new StatelessCall(context, upstream, caller, session, endsSession, known);
  }

  /** Sends a message of the gateway itself to the server. */
  Reply send(byte[] message) {
    var named = new Conversation.Streamable(session);
    Exchange exchange = new Exchange(upstream, named, caller, Envelopes.read(message), () -> false);
    return context.relay().take(named, exchange, () -> {});
  }

  /** Sends a response to the server. Returns at once. */
  void sendLater(byte[] message) {
    later(() -> {
      Reply _ = send(message);
    });
  }

  /** Answers a request of the server with an error. Returns at once. */
  void refuse(RequestId request, String why) {
    sendLater(JsonRpcErrors.error(request, JsonRpcErrorCode.METHOD_NOT_FOUND, why));
  }

  /** Cancels the call. Returns at once. */
  void cancel() {
    later(this::cancelNow);
  }

  /** Cancels the call whose client has left. If it can come back, it has some time for that. */
  void left(String stream) {
    boolean comesBack =
        context.config().eventIds() || (context.attaches() && caller.name() != null);
    if (comesBack) {
      unlessFollowed(stream, this::cancelNow);
    } else {
      cancel();
    }
  }

  /**
   * Ends the session if it is for this call alone, which has ended. A client that can come back has
   * some time for that, since it may not have the result. Returns at once.
   *
   * @param stream empty while the answer is no stream
   */
  void completed(String stream) {
    if (endsSession && context.config().eventIds() && !stream.isEmpty()) {
      unlessFollowed(stream, this::end);
    } else {
      endLater();
    }
  }

  /**
   * Ends the call when its client had some time to come back, and has not. The end of a session is
   * only put off while it has: no other call ends it.
   */
  private void unlessFollowed(String stream, Runnable ending) {
    StreamRef ref = new StreamRef(StreamNames.key(session), stream);
    later(
        context.config().cancelGrace(),
        () -> {
          if (!context.streams().isFollowed(ref)) {
            ending.run();
          } else if (endsSession) {
            later(AGAIN, () -> unlessFollowed(stream, ending));
          }
        });
  }

  private void cancelNow() {
    Reply _ = send(JsonRpcMessages.cancelled(id));
    end();
  }

  /** Cancels the call if its client does not answer in time. Returns at once. */
  void endUnlessAnswered(RetryState.Call round) {
    later(
        context.config().answerTimeout(),
        () -> {
          if (context.seal().store().use(round.once())) {
            for (String asked : round.asked()) {
              String why = "The client does not answer";
              send(JsonRpcErrors.error(new RequestId(asked), JsonRpcErrorCode.INTERNAL_ERROR, why));
            }
            cancelNow();
          }
        });
  }

  /** Ends the session if it is for this call alone. Returns at once. */
  void endLater() {
    if (endsSession) {
      later(this::end);
    }
  }

  private void end() {
    if (endsSession) {
      context.relay().end(upstream, new Conversation.Streamable(session), caller);
    }
  }

  /** Runs work on another thread. */
  void later(Runnable work) {
    later(Duration.ZERO, work);
  }

  private static void later(Duration delay, Runnable work) {
    CompletableFuture.delayedExecutor(
            delay.toMillis(), TimeUnit.MILLISECONDS, Thread::startVirtualThread)
        .execute(() -> {
          try {
            work.run();
          } catch (RuntimeException failure) {
            LOG.debugf("a call was not ended: %s", failure.getMessage());
          }
        });
  }
}
