package dev.holdfast.bridge;

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
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One request of the client, or a batch with several, until each has its answer. */
final class ClientRequest implements Runnable {

  private static final SafeRetry PATIENCE = new SafeRetry(Duration.ofMinutes(10));

  private final Body body;
  private final BridgeSession conversation;
  private final ClientOutput out;
  private final CountDownLatch asked = new CountDownLatch(1);

  /** The thread's own that runs this. */
  private final Set<RequestId> open = new LinkedHashSet<>();

  /** Set by the thread that reads the client, read by the one that runs this. */
  private volatile boolean withdrawn;

  /** As above, by the thread that closes. */
  private volatile @Nullable MessageSource source;

  private volatile boolean closed;

  ClientRequest(Body body, BridgeSession conversation, ClientOutput out) {
    this.body = body;
    this.conversation = conversation;
    this.out = out;
    ids(body).forEach(open::add);
  }

  /** The ids of the requests in a body; none if it wants no answer. */
  static Stream<RequestId> ids(Body body) {
    return messages(body)
        .filter(Message.Request.class::isInstance)
        .map(message -> ((Message.Request) message).id());
  }

  static Stream<Message> messages(Body body) {
    return switch (body) {
      case Body.Single(Message message) -> Stream.of(message);
      case Body.Batch(List<Message> messages, byte[] _) -> messages.stream();
    };
  }

  /** Asks the server and passes on what it says, to the end. */
  @Override
  public void run() {
    try {
      ask(conversation.session());
    } catch (SessionUnavailableException none) {
      fail(none.getMessage());
    } catch (UpstreamException failure) {
      fail(failure);
    } finally {
      asked.countDown();
    }
  }

  private void ask(ServerSession session) {
    try {
      Answer answer =
          PATIENCE.until(() -> session.session().request(body), () -> withdrawn || closed);
      asked.countDown();
      switch (answer) {
        case Answer.Json(byte[] json) -> pass(json);
        case Answer.Stream(MessageSource messages) -> pass(messages);
      }
      fail("The server ended its answer without a response; the outcome is unknown");
    } catch (UpstreamException.SessionGone gone) {
      fail("The server has lost the session, and what was under way in it; try again");
      conversation.lost(session);
    }
  }

  private void pass(MessageSource messages) {
    try (messages) {
      source = messages;
      if (closed) {
        return;
      }
      List<UpstreamMessage> taken = messages.take();
      while (!taken.isEmpty()) {
        taken.forEach(message -> pass(message.payload()));
        taken = messages.take();
      }
    }
  }

  private void pass(byte[] json) {
    out.write(json);
    try {
      messages(Envelopes.read(json))
          .filter(Message.Response.class::isInstance)
          .forEach(message -> settle(((Message.Response) message).id()));
    } catch (EnvelopeException none) {
      // Then it is no response either.
    }
  }

  private void settle(@Nullable RequestId id) {
    if (id != null) {
      open.remove(id);
    } else if (open.size() == 1) {
      open.clear(); // An error without an id can only be about the request, when there is but one.
    }
  }

  private void fail(UpstreamException failure) {
    if (failure instanceof UpstreamException.Refused refused && open.size() == 1) {
      byte[] error = refused.error();
      if (error != null && saysAbout(error)) {
        pass(error);
      }
    }
    fail(
        switch (failure) {
          case UpstreamException.Unreachable _, UpstreamException.Busy _ ->
              "The server cannot be reached; nothing was done";
          case UpstreamException.Refused refused ->
              "The server refused with status " + refused.status();
          case UpstreamException.SessionGone _ -> "The server has lost the session";
          case UpstreamException.TimedOut _, UpstreamException.Broken _ ->
              "The connection to the server was lost; the outcome is unknown";
        });
  }

  private boolean saysAbout(byte[] error) {
    return Envelopes.read(error) instanceof Body.Single(Message.Response response)
        && open.contains(response.id());
  }

  /** Answers what has no answer yet; the client waits for none to what it took back. */
  private void fail(@Nullable String why) {
    if (!withdrawn && !closed) {
      open.forEach(id ->
          out.write(
              JsonRpcErrors.error(id, JsonRpcErrorCode.SERVER_ERROR.code(), String.valueOf(why))));
    }
    open.clear();
  }

  /**
   * The client wants no answer any more. Waits a moment until the server has heard of the request,
   * so that it does not hear of the end before the beginning.
   */
  void withdraw(Duration most) throws InterruptedException {
    withdrawn = true;
    var _ = asked.await(most.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Lets go of the server's answer. */
  void close() {
    closed = true;
    MessageSource messages = source;
    if (messages != null) {
      messages.close();
    }
  }
}
