package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Reply;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * A call of a client without a session, and what is done in its session beside it. Thread-safe.
 *
 * @param exchange the request that runs now
 * @param session where the call runs
 * @param endsSession true if the session ends with the call
 * @param id raw id of the request in the session
 */
record StatelessCall(
    StatelessContext context,
    Exchange exchange,
    SessionId session,
    boolean endsSession,
    String id) {

  private static final Logger LOG = Logger.getLogger(StatelessCall.class);

  /** Sends a notification or a response to the server. */
  void send(byte[] message) {
    Reply _ = context.relay().take(exchange.with(session, Envelopes.read(message)), () -> {});
  }

  /** Sends a response to the server. Returns at once. */
  void sendLater(byte[] message) {
    later(Duration.ZERO, () -> send(message));
  }

  /** Answers a request of the server with an error. Returns at once. */
  void refuse(RequestId request, String why) {
    sendLater(JsonRpcErrors.error(request, JsonRpcErrorCode.METHOD_NOT_FOUND, why));
  }

  /** Cancels the call. Returns at once. */
  void cancel() {
    later(Duration.ZERO, this::cancelNow);
  }

  private void cancelNow() {
    send(
        new JsonEdit()
            .set("\"2.0\"", "jsonrpc")
            .set(JsonEdit.quote(Methods.NOTIFICATIONS_CANCELLED), "method")
            .set(id, "params", "requestId")
            .apply("{}".getBytes(UTF_8)));
    end();
  }

  /** Cancels the call if its client does not answer in time. Returns at once. */
  void endUnlessAnswered(RetryState.Call round) {
    later(
        context.life(),
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
      later(Duration.ZERO, this::end);
    }
  }

  private void end() {
    if (endsSession) {
      context.relay().end(exchange.upstream(), session, false, exchange.caller());
    }
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
