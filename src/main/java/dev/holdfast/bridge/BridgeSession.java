package dev.holdfast.bridge;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The session of the client, over as many sessions of the server as it needs. Thread-safe.
 *
 * <p>A session that the server has lost (404) must be replaced by a new one (MCP 2025-11-25,
 * Transports, Session Management). The bridge opens it with the client's own {@code initialize}
 * request. Open requests of the lost session fail, and are not repeated in the new one.
 */
final class BridgeSession {

  private static final Logger LOG = Logger.getLogger(BridgeSession.class);

  private final Upstream upstream;
  private final ClientOutput out;
  private final AtomicReference<State> state = new AtomicReference<>(new State.None());

  /** The client's {@code notifications/initialized}, to repeat it in later sessions. */
  private volatile @Nullable Body initialized;

  /** No session is open and none can be opened. The message is meant for the client. */
  static final class SessionUnavailableException extends RuntimeException {
    SessionUnavailableException(String message) {
      super(message, null, false, false);
    }
  }

  /** A session of the server. */
  record ServerSession(UpstreamSession upstream, String protocolVersion) {}

  sealed interface State {

    /** The client has not initialized, or the server refused. */
    record None() implements State {}

    /** Requests use the session. */
    record Open(ServerSession session, Message.Request initialize) implements State {}

    /** The next request reopens the session, in the same protocol version. */
    record Lost(Message.Request initialize, String protocolVersion) implements State {}

    /** Requests fail. Final. */
    record Closed() implements State {}
  }

  /**
   * One thread opens a session, and requests wait.
   *
   * @param previous the session that the client has replaced; null if there was none
   * @param settled completes when the state of the session may have changed
   */
  record Opening(
      Message.Request initialize,
      @Nullable ServerSession previous,
      CompletableFuture<@Nullable Void> settled)
      implements State {
    private Opening(Message.Request initialize, @Nullable ServerSession previous) {
      this(initialize, previous, new CompletableFuture<>());
    }
  }

  BridgeSession(Upstream upstream, ClientOutput out) {
    this.upstream = upstream;
    this.out = out;
  }

  /** Starts a session for the client. Requests wait until {@link #open} has ended. */
  Opening begin(Message.Request initialize) {
    initialized = null;
    while (true) {
      State current = state.get();
      Opening attempt =
          new Opening(initialize, current instanceof State.Open open ? open.session() : null);
      if (current instanceof State.Closed || state.compareAndSet(current, attempt)) {
        wake(current);
        return attempt;
      }
    }
  }

  /** Lets the requests that wait for an attempt look at the state again. */
  private static void wake(State state) {
    if (state instanceof Opening attempt) {
      attempt.settled.complete(null);
    }
  }

  /** Opens the session and answers the client. */
  void open(Opening attempt) {
    State next = new State.None();
    ServerSession opened = null;
    try {
      Handshake handshake =
          SafeRetry.SHORT.call(() -> upstream.initialize(attempt.initialize), this::isClosed);
      opened = attach(handshake);
      next = opened == null ? next : new State.Open(opened, attempt.initialize);
      handshake.before().stream().map(UpstreamMessage::payload).forEach(out::write);
      out.write(handshake.response());
    } finally {
      settle(attempt, next, opened);
    }
  }

  private @Nullable ServerSession attach(Handshake handshake) {
    UpstreamLink link = handshake.link();
    return link == null ? null : new ServerSession(upstream.attach(link), link.protocolVersion());
  }

  void initialized(Body notification) {
    initialized = notification;
  }

  /**
   * The current session of the server. Waits while one is being opened, and reopens a lost one.
   *
   * @throws SessionUnavailableException when there is no session and none can be opened
   * @throws UpstreamException when the server does not reopen the session
   */
  ServerSession session() {
    while (true) {
      switch (state.get()) {
        case State.Open(ServerSession session, _) -> {
          return session;
        }
        case State.Lost lost -> {
          Opening attempt = new Opening(lost.initialize(), null);
          if (state.compareAndSet(lost, attempt)) {
            return reopen(attempt, lost);
          }
        }
        case Opening attempt -> attempt.settled.join();
        case State.Closed _ -> throw new SessionUnavailableException("The bridge is being closed");
        case State.None _ ->
            throw new SessionUnavailableException("No session: initialize comes first");
      }
    }
  }

  private ServerSession reopen(Opening attempt, State.Lost lost) {
    State next = lost;
    ServerSession opened = null;
    try {
      opened =
          attach(SafeRetry.LONG.call(() -> upstream.initialize(lost.initialize()), this::isClosed));
      if (opened == null) {
        throw new SessionUnavailableException(
            "The session was lost, and the server opens no other");
      }
      if (!opened.protocolVersion().equals(lost.protocolVersion())) {
        throw new SessionUnavailableException(
            "The session was lost, and the server now speaks another version; start again");
      }
      Body notification = initialized;
      if (notification != null) {
        opened.upstream().send(notification);
      }
      next = new State.Open(opened, lost.initialize());
      return opened;
    } finally {
      settle(attempt, next, opened);
    }
  }

  /** Ends an attempt. Ends its session, too, unless that becomes the current session. */
  private void settle(Opening attempt, State next, @Nullable ServerSession opened) {
    boolean used = state.compareAndSet(attempt, next) && next instanceof State.Open;
    wake(attempt);
    if (!used && opened != null) {
      opened.upstream().end();
    }
  }

  void lost(ServerSession gone) {
    if (state.get() instanceof State.Open open
        && open.session().equals(gone)
        && state.compareAndSet(open, new State.Lost(open.initialize(), gone.protocolVersion()))) {
      LOG.warn("server lost the session; the bridge opens another one");
    }
  }

  /** The open session if the client has sent {@code notifications/initialized}; else null. */
  @Nullable ServerSession ready() {
    return initialized != null && state.get() instanceof State.Open open ? open.session() : null;
  }

  /** Returns whether the server has lost the session and no thread opens another one yet. */
  boolean isLost() {
    return state.get() instanceof State.Lost;
  }

  boolean isCurrent(ServerSession session) {
    return state.get() instanceof State.Open open && open.session().equals(session);
  }

  boolean isClosed() {
    return state.get() instanceof State.Closed;
  }

  void close() {
    State last = state.getAndSet(new State.Closed());
    wake(last);
    if (last instanceof State.Open open) {
      open.session().upstream().end();
    }
  }
}
