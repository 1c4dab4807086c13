package dev.holdfast.bridge;

import dev.holdfast.bridge.BridgeSession.SessionUnavailableException;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A request of the client, or a batch of them, until every request has a response. */
abstract sealed class ClientRequest implements Runnable permits SessionRequest, StatelessRequest {

  private final Body body;
  private final ClientOutput out;

  /** Requests without a response. Owned by the running thread. */
  private final Set<RequestId> open;

  /** Set by the thread that reads the client, read by the running thread. */
  private volatile boolean cancelled;

  /** Set by the running thread, which serves this request alone; read by a closing thread. */
  private volatile @Nullable Thread running;

  /** Set by the running thread, read by a closing thread. */
  private volatile @Nullable MessageSource source;

  private volatile boolean closed;

  ClientRequest(Body body, ClientOutput out) {
    this.body = body;
    this.out = out;
    this.open = new LinkedHashSet<>(body.requestIds());
  }

  /** Sends the request and passes the whole answer to the client. */
  @Override
  public final void run() {
    running = Thread.currentThread();
    try {
      if (!closed) {
        exchange();
        fail("The server ended its answer without a response; the outcome is unknown");
      }
    } catch (SessionUnavailableException e) {
      fail(String.valueOf(e.getMessage()));
    } catch (UpstreamException failure) {
      fail(failure);
    }
  }

  /** Sends the request with {@link #send} and passes the answer on with {@link #pass}. */
  abstract void exchange();

  /** Returns true if the response comes only when the client or the server ends. */
  abstract boolean isEndless();

  /** Sends the request and returns the answer. */
  final MessageSource send(UpstreamSession server, SafeRetry retry) {
    return retry.call(() -> server.request(body), () -> cancelled || closed).source();
  }

  /** Returns true if the client waits for no more responses. */
  final boolean isDone() {
    return open.isEmpty() || closed;
  }

  /** Passes messages to the client until the end of the answer. */
  final void pass(MessageSource messages) {
    try (messages) {
      source = messages;
      if (!closed) {
        messages.forEach(message -> translate(message.payload()).forEach(this::pass));
      }
    } finally {
      source = null;
    }
  }

  /** Returns the messages that the client gets for one of the server. */
  List<byte[]> translate(byte[] json) {
    return List.of(json);
  }

  private void pass(byte[] json) {
    if (closed) {
      return; // Of a cancelled request, a client of 2026-07-28 gets no more messages.
    }
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
  final void fail(String reason) {
    fail(id -> JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR, reason));
  }

  final void fail(Function<RequestId, byte[]> error) {
    if (!cancelled && !closed) {
      open.forEach(id -> out.write(error.apply(id)));
    }
    open.clear();
  }

  /** The client does not wait for a response, and gets no error. */
  final void ignoreFailure() {
    cancelled = true;
  }

  /** Closes the connection. The client gets no more messages. */
  final void close() {
    closed = true;
    MessageSource messages = source;
    Thread waiting = running;
    if (messages != null) {
      messages.close();
    } else if (waiting != null) {
      waiting.interrupt(); // It waits for the answer to begin.
    }
  }
}
