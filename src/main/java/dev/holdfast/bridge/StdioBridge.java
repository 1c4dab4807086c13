package dev.holdfast.bridge;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.stdio.LineReader;
import dev.holdfast.upstream.stdio.LineTooLongException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A client that writes its messages to one stream and reads those of the server from another, a
 * line each (2025-11-25, Transports, stdio).
 *
 * <p>Requests run side by side, each on a thread of its own. What asks for no answer is sent in the
 * order in which it came. Nothing but messages is written.
 */
public final class StdioBridge implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(StdioBridge.class);

  /** For what is under way when the client ends; whoever cannot wait so long sends a signal. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final Duration ORDER = Duration.ofSeconds(2);
  private static final SafeRetry PATIENCE = new SafeRetry(Duration.ofMinutes(10));

  private final BridgeSession conversation;
  private final ClientOutput out;
  private final int maxMessageBytes;
  private final Map<RequestId, ClientRequest> calls = new ConcurrentHashMap<>();
  private final BlockingQueue<Body> outgoing = new LinkedBlockingQueue<>();
  private final AtomicReference<@Nullable StandaloneListener> listening = new AtomicReference<>();

  /** The client, and each thing under way. */
  private final Phaser underWay = new Phaser(1);

  /**
   * Opens nothing yet.
   *
   * @param upstream the server; not closed with this
   * @param out to the client
   * @param maxMessageBytes the length of the longest line that a client may write
   */
  public StdioBridge(Upstream upstream, OutputStream out, int maxMessageBytes) {
    this.out = new ClientOutput(out);
    this.conversation = new BridgeSession(upstream, this.out);
    this.maxMessageBytes = maxMessageBytes;
  }

  /**
   * Serves the client until it ends, and a moment longer what it still wants to know. Then the
   * session is ended.
   *
   * @return whether the client ended in order
   */
  public boolean run(InputStream in) {
    Thread sender = Thread.ofVirtual().name("bridge-sender").start(this::sendAll);
    try {
      LineReader lines = new LineReader(in, maxMessageBytes);
      boolean more = true;
      while (more) {
        more = acceptNext(lines);
      }
      int phase = underWay.arriveAndDeregister();
      underWay.awaitAdvanceInterruptibly(phase, GRACE.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException late) {
      LOG.warn("the client has gone, and what it asked for goes on without it");
      return true;
    } catch (IOException broken) {
      LOG.warnf("the client cannot be read: %s", broken.getMessage());
      return false;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      sender.interrupt();
      close();
    }
  }

  private boolean acceptNext(LineReader lines) throws IOException {
    try {
      byte[] line = lines.next();
      if (line == null) {
        return false;
      }
      if (!isBlank(line)) {
        accept(Envelopes.read(line));
      }
    } catch (EnvelopeException wrong) {
      out.write(
          JsonRpcErrors.error(wrong.id().orElse(null), wrong.code().code(), wrong.clientMessage()));
    } catch (LineTooLongException tooLong) {
      lines.skipLine();
      out.write(
          JsonRpcErrors.error(
              null,
              JsonRpcErrorCode.INVALID_REQUEST.code(),
              "Invalid Request: longer than " + maxMessageBytes + " bytes"));
    }
    return true;
  }

  private static boolean isBlank(byte[] line) {
    for (byte each : line) {
      if (each != ' ' && each != '\t') {
        return false;
      }
    }
    return true;
  }

  private void accept(Body body) {
    switch (body) {
      case Body.Single(Message.Request request) when request.method().equals(Methods.INITIALIZE) ->
          open(request);
      case Body.Single(Message.Notification notification)
          when notification.method().equals(Methods.NOTIFICATIONS_INITIALIZED) ->
          ready(body);
      case Body _ when ClientRequest.ids(body).findAny().isPresent() -> call(body);
      case Body _ -> {
        underWay.register();
        outgoing.add(body);
      }
    }
  }

  private void open(Message.Request request) {
    ServerSession before = conversation.begin();
    start(
        "bridge-open",
        () -> {
          if (before != null) {
            before.session().end();
          }
          try {
            conversation.open(request);
          } catch (UpstreamException failure) {
            LOG.warnf("no session: %s", failure.getMessage());
            out.write(
                JsonRpcErrors.error(
                    request.id(),
                    JsonRpcErrorCode.SERVER_ERROR.code(),
                    String.valueOf(failure.getMessage())));
          }
        });
  }

  /** Waited for: what the client says next must not overtake it. */
  private void ready(Body body) {
    conversation.initialized(body);
    send(body);
  }

  private void call(Body body) {
    ClientRequest call = new ClientRequest(body, conversation, out);
    ClientRequest.ids(body).forEach(id -> calls.put(id, call));
    start(
        "bridge-call",
        () -> {
          try {
            call.run();
          } finally {
            ClientRequest.ids(body).forEach(id -> calls.remove(id, call));
          }
          listen();
        });
  }

  private void start(String name, Runnable work) {
    underWay.register();
    Thread.ofVirtual()
        .name(name)
        .start(() -> {
          try {
            work.run();
          } finally {
            underWay.arriveAndDeregister();
          }
        });
  }

  private void sendAll() {
    try {
      while (true) {
        Body body = outgoing.take();
        try {
          withdraw(body);
          send(body);
        } finally {
          underWay.arriveAndDeregister();
        }
      }
    } catch (InterruptedException ended) {
      LOG.debug("nothing is sent any more");
    }
  }

  private void withdraw(Body body) throws InterruptedException {
    if (body instanceof Body.Single(Message.Notification notification)) {
      RequestId cancelled = notification.cancelledRequestId();
      ClientRequest call = cancelled == null ? null : calls.get(cancelled);
      if (call != null) {
        call.withdraw(ORDER);
      }
    }
  }

  private void send(Body body) {
    try {
      ServerSession session = conversation.session();
      try {
        PATIENCE.until(
            () -> {
              session.session().send(body);
              return true;
            },
            conversation::isClosed);
      } catch (UpstreamException.SessionGone gone) {
        // It was said in that session, and means nothing in another one.
        conversation.lost(session);
      }
    } catch (UpstreamException | SessionUnavailableException failure) {
      LOG.warnf("a message of the client did not reach the server: %s", failure.getMessage());
    }
    listen();
  }

  /** Listens in the session of now, unless that is done already. */
  private void listen() {
    ServerSession session = conversation.ready();
    if (session == null) {
      return;
    }
    StandaloneListener next = new StandaloneListener(conversation, session, out);
    StandaloneListener former =
        listening.getAndUpdate(
            current -> current != null && current.isOf(session) ? current : next);
    if (former != null && former.isOf(session)) {
      return;
    }
    Thread.ofVirtual()
        .name("bridge-listener")
        .start(() -> {
          next.run();
          reopen();
        });
  }

  /** Does not wait until the client wants something: the server may have something to say. */
  private void reopen() {
    if (conversation.isLost()) {
      try {
        conversation.session();
        listen();
      } catch (UpstreamException | SessionUnavailableException failure) {
        LOG.warnf("no session: %s", failure.getMessage());
      }
    }
  }

  /** Ends the session at once, and lets go of all that is under way. */
  @Override
  public void close() {
    calls.values().forEach(ClientRequest::close);
    StandaloneListener last = listening.get();
    if (last != null) {
      last.close();
    }
    conversation.close();
  }
}
