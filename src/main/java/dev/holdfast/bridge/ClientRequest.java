package dev.holdfast.bridge;

import dev.holdfast.bridge.BridgeSession.ServerSession;
import dev.holdfast.bridge.BridgeSession.SessionUnavailableException;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A request of the client, or a batch of them, until every request has a response. */
final class ClientRequest implements Runnable {

  private final Body body;
  private final BridgeSession bridgeSession;
  private final ClientOutput out;
  private final CountDownLatch sent = new CountDownLatch(1);

  /** Requests without a response. Owned by the running thread. */
  private final Set<RequestId> open;

  /** Set by the thread that reads the client, read by the running thread. */
  private volatile boolean cancelled;

  /** Set by the running thread, read by a closing thread. */
  private volatile @Nullable MessageSource source;

  private volatile boolean closed;

  ClientRequest(Body body, BridgeSession bridgeSession, ClientOutput out) {
    this.body = body;
    this.bridgeSession = bridgeSession;
    this.out = out;
    this.open = new LinkedHashSet<>(body.requestIds());
  }

  /** Sends the request and passes the whole answer to the client. */
  @Override
  public void run() {
    try {
      exchange(bridgeSession.session());
    } catch (SessionUnavailableException e) {
      fail(String.valueOf(e.getMessage()));
    } catch (UpstreamException failure) {
      fail(failure);
    } finally {
      sent.countDown();
    }
  }

  private void exchange(ServerSession session) {
    try {
      Answer answer =
          SafeRetry.LONG.call(() -> session.upstream().request(body), () -> cancelled || closed);
      sent.countDown();
      pass(answer.source());
      fail("The server ended its answer without a response; the outcome is unknown");
    } catch (UpstreamException.SessionGone gone) {
      fail("The server has lost the session, and what was under way in it; try again");
      bridgeSession.lost(session);
    }
  }

  private void pass(MessageSource messages) {
    try (messages) {
      source = messages;
      if (!closed) {
        messages.forEach(message -> pass(message.payload()));
      }
    }
  }

  private void pass(byte[] json) {
    out.write(json);
    try {
      for (Message message : Envelopes.read(json).messages()) {
        if (message instanceof Message.Response response) {
          settle(response.id());
        }
      }
    } catch (EnvelopeException e) {
      // Unreadable, so it settles no request.
    }
  }

  private void settle(@Nullable RequestId id) {
    if (id != null) {
      open.remove(id);
    } else if (open.size() == 1) {
      open.clear(); // An error without an id can only be about the one open request.
    }
  }

  private void fail(UpstreamException failure) {
    if (failure instanceof UpstreamException.Refused refused && open.size() == 1) {
      byte[] error = refused.error();
      if (error != null && isAboutOpenRequest(error)) {
        pass(error);
      }
    }
    fail(
        switch (failure) {
          case UpstreamException.Unreachable _, UpstreamException.Busy _ ->
              "The server cannot be reached; nothing was done";
          case UpstreamException.Refused refused ->
              "The server refused with status " + refused.status();
          case UpstreamException.NoToken _ -> "There is no access token for the server";
          case UpstreamException.SessionGone _ -> "The server has lost the session";
          case UpstreamException.TooLarge tooLarge -> tooLarge.clientMessage();
          case UpstreamException.TimedOut _, UpstreamException.Broken _ ->
              "The connection to the server was lost; the outcome is unknown";
        });
  }

  private boolean isAboutOpenRequest(byte[] error) {
    return Envelopes.read(error) instanceof Body.Single(Message.Response response)
        && open.contains(response.id());
  }

  /** Answers the open requests with errors. A client does not wait for a cancelled response. */
  private void fail(String reason) {
    if (!cancelled && !closed) {
      open.forEach(id -> out.write(JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, reason)));
    }
    open.clear();
  }

  /**
   * Cancels the request. Waits until the server has the request, so that the server does not get
   * the cancellation first.
   */
  void cancel(Duration timeout) throws InterruptedException {
    cancelled = true;
    var _ = sent.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }

  void close() {
    closed = true;
    MessageSource messages = source;
    if (messages != null) {
      messages.close();
    }
  }
}
