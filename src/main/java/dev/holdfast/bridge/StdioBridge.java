package dev.holdfast.bridge;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.holdfast.bridge.BridgeSession.ServerSession;
import dev.holdfast.bridge.BridgeSession.SessionUnavailableException;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.stdio.LineReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Serves one client over stdio from an upstream: it reads messages from one byte stream and writes
 * messages to another, one per line (MCP 2025-11-25, Transports, stdio). Each message tells whether
 * it belongs to the session of the client or to none (MCP 2026-07-28).
 *
 * <p>Each request has a thread of its own. Notifications and responses are sent in their order.
 */
public final class StdioBridge implements AutoCloseable {

  private static final Logger LOG = Logger.getLogger(StdioBridge.class);

  /** Time for open requests after the client has ended its input. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  /** Time that a cancellation waits for its request to be sent. */
  private static final Duration CANCEL_WAIT = Duration.ofSeconds(2);

  private final Upstream upstream;
  private final BridgeSession bridgeSession;
  private final ClientOutput out;
  private final int maxMessageBytes;
  private final Map<RequestId, ClientRequest> requests = new ConcurrentHashMap<>();

  /** Sends notifications and responses. */
  private final ExecutorService sender =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().name("bridge-sender").factory());

  /** Sends requests and waits for their responses. */
  private final ExecutorService workers =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("bridge-request-", 0).factory());

  /**
   * Done when the server has {@code notifications/initialized}, which later requests must not
   * overtake. Owned by the reading thread.
   */
  private Future<?> initialized = CompletableFuture.completedFuture(null);

  private final AtomicReference<@Nullable StandaloneListener> listener = new AtomicReference<>();

  /**
   * Opens no session yet.
   *
   * @param upstream the server; stays open when the bridge closes
   * @param maxMessageBytes length of the longest line accepted from the client
   */
  public StdioBridge(Upstream upstream, OutputStream out, int maxMessageBytes) {
    this.upstream = upstream;
    this.out = new ClientOutput(out);
    this.bridgeSession = new BridgeSession(upstream, this.out);
    this.maxMessageBytes = maxMessageBytes;
  }

  /**
   * Serves the client until its input ends, waits a moment for open requests, and ends the session.
   *
   * @return false if the input broke
   */
  public boolean run(InputStream in) {
    try {
      LineReader lines = new LineReader(in, maxMessageBytes);
      boolean more = true;
      while (more) {
        more = acceptNext(lines);
      }
      requests.values().stream().filter(ClientRequest::isEndless).forEach(ClientRequest::close);
      sender.shutdown();
      workers.shutdown();
      long deadline = System.nanoTime() + GRACE.toNanos();
      if (!sender.awaitTermination(GRACE.toNanos(), TimeUnit.NANOSECONDS)
          || !workers.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        LOG.warn("bridge stops with open requests: the client has ended");
      }
      return true;
    } catch (IOException broken) {
      LOG.warnf("client input broke reason=%s", broken.getMessage());
      return false;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      sender.shutdownNow();
      close();
    }
  }

  private boolean acceptNext(LineReader lines) throws IOException {
    try {
      byte[] line = lines.next();
      if (line == null) {
        return false;
      }
      if (!new String(line, ISO_8859_1).isBlank()) {
        accept(Envelopes.read(line));
      }
    } catch (EnvelopeException e) {
      out.write(JsonRpcErrors.error(e.id().orElse(null), e.code(), e.clientMessage()));
    } catch (LineReader.LineTooLongException e) {
      lines.skipLine();
      out.write(
          JsonRpcErrors.error(
              null,
              JsonRpcErrorCode.INVALID_REQUEST,
              "Invalid Request: longer than " + maxMessageBytes + " bytes"));
    }
    return true;
  }

  private void accept(Body body) {
    switch (body) {
      case Body.Single(Message.Request request) when request.isInitialize() -> open(request);
      case Body.Single(Message.Notification sent) when sent.isInitialized() -> {
        bridgeSession.initialized(body);
        initialized = sender.submit(() -> send(body));
      }
      case Body.Single single
          when single.message() instanceof Message.Request request
              && StatelessRequest.isStateless(request) ->
          start(new StatelessRequest(single, request, upstream, out), body, () -> {});
      case Body.Single(Message.Notification sent) when isStateless(sent) -> cancelStateless(sent);
      case Body _ when !body.requestIds().isEmpty() ->
          start(new SessionRequest(body, bridgeSession, out, initialized), body, this::listen);
      case Body _ -> sender.execute(() -> cancelAndSend(body));
    }
  }

  private void open(Message.Request request) {
    BridgeSession.Opening attempt = bridgeSession.begin(request);
    workers.execute(() -> {
      ServerSession previous = attempt.previous();
      if (previous != null) {
        previous.upstream().end();
      }
      try {
        bridgeSession.open(attempt);
      } catch (UpstreamException failure) {
        LOG.warnf("session not opened reason=%s", failure.getMessage());
        out.write(
            JsonRpcErrors.error(
                request.id(), JsonRpcErrorCode.SERVER_ERROR, String.valueOf(failure.getMessage())));
      }
    });
  }

  private void start(ClientRequest request, Body body, Runnable onEnd) {
    body.requestIds().forEach(id -> requests.put(id, request));
    workers.execute(() -> {
      try {
        request.run();
      } finally {
        body.requestIds().forEach(id -> requests.remove(id, request));
      }
      onEnd.run();
    });
  }

  private boolean isStateless(Message.Notification notification) {
    return notification.version() != null || cancelled(notification) instanceof StatelessRequest;
  }

  /** Closes the request. Servers without sessions take no notifications over HTTP. */
  private void cancelStateless(Message.Notification notification) {
    if (cancelled(notification) instanceof StatelessRequest request) {
      request.close();
    }
  }

  private @Nullable ClientRequest cancelled(Message message) {
    RequestId id = message.cancelledRequestId();
    return id == null ? null : requests.get(id);
  }

  private void cancelAndSend(Body body) {
    try {
      if (body instanceof Body.Single(Message.Notification notification)
          && cancelled(notification) instanceof SessionRequest request) {
        request.cancel(CANCEL_WAIT);
      }
      send(body);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void send(Body body) {
    try {
      ServerSession session = bridgeSession.session();
      try {
        SafeRetry.LONG.call(
            () -> {
              session.upstream().send(body);
              return true;
            },
            bridgeSession::isClosed);
      } catch (UpstreamException.SessionGone gone) {
        bridgeSession.lost(session); // The message belongs to the lost session only.
      }
    } catch (UpstreamException | SessionUnavailableException failure) {
      LOG.warnf("client message not delivered reason=%s", failure.getMessage());
    }
    listen();
  }

  /** Starts a listener for the current session, if it has none yet. */
  private void listen() {
    ServerSession session = bridgeSession.ready();
    if (session == null) {
      return;
    }
    StandaloneListener next = new StandaloneListener(bridgeSession, session, out);
    StandaloneListener former =
        listener.getAndUpdate(current -> current != null && current.isOf(session) ? current : next);
    if (former == null || !former.isOf(session)) {
      Thread.ofVirtual()
          .name("bridge-listener")
          .start(() -> {
            next.run();
            reopen();
          });
    }
  }

  /** Reopens a lost session without waiting for a request: the server may have messages. */
  private void reopen() {
    if (bridgeSession.isLost()) {
      try {
        bridgeSession.session();
        listen();
      } catch (UpstreamException | SessionUnavailableException failure) {
        LOG.warnf("session not reopened reason=%s", failure.getMessage());
      }
    }
  }

  /** Ends the session at once and stops all requests. */
  @Override
  public void close() {
    requests.values().forEach(ClientRequest::close);
    StandaloneListener last = listener.get();
    if (last != null) {
      last.close();
    }
    bridgeSession.close();
  }
}
