package dev.holdfast.bridge;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The session of the one client, for as long as the client lives.
 *
 * <p>A session that the server has lost (404) cannot be got back; the specification wants a new one
 * (2025-11-25, Transports, Session Management). It is opened as the client opened the first, and
 * the client, which knows of no sessions, goes on. What the server had kept for the old one is
 * gone: that is why what was under way in it is answered with errors and never repeated in the new
 * one.
 */
final class BridgeSession {

  /** How long a client, or the person behind it, is left without a word of a wrong address. */
  private static final SafeRetry FIRST = new SafeRetry(Duration.ofSeconds(30));

  private static final SafeRetry LATER = new SafeRetry(Duration.ofMinutes(10));

  private static final Logger LOG = Logger.getLogger(BridgeSession.class);

  private final Upstream upstream;
  private final ClientOutput out;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // All guarded by the lock.
  private @Nullable ServerSession current;
  private Message.@Nullable Request opening;
  private @Nullable Body initialized;
  private boolean changing;
  private @Nullable String version;
  private boolean closed;

  BridgeSession(Upstream upstream, ClientOutput out) {
    this.upstream = upstream;
    this.out = out;
  }

  /**
   * Says that the client opens a session, so that what it says next waits for that.
   *
   * @return the session before, if there was one
   */
  @Nullable ServerSession begin() {
    lock.lock();
    try {
      ServerSession before = current;
      current = null;
      opening = null;
      initialized = null;
      version = null;
      changing = true;
      return before;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Opens the session and answers the client. To follow {@link #begin}.
   *
   * @throws UpstreamException when the server gives no answer
   */
  void open(Message.Request request) {
    ServerSession opened = null;
    try {
      Handshake handshake = FIRST.until(() -> upstream.initialize(request), this::isClosed);
      opened = opened(handshake);
      handshake.before().stream().map(UpstreamMessage::payload).forEach(out::write);
      out.write(handshake.response());
    } finally {
      settle(opened, opened == null ? null : request);
    }
  }

  private @Nullable ServerSession opened(Handshake handshake) {
    UpstreamLink link = handshake.link();
    return link == null ? null : new ServerSession(upstream.attach(link), link);
  }

  /** Keeps what the client says when it has understood the answer, to say it again. */
  void initialized(Body body) {
    lock.lock();
    try {
      initialized = body;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The session to speak in. Waits while one is being opened, and opens another if it was lost.
   *
   * @throws SessionUnavailableException when the client has not opened one, or there is none any
   *     more
   * @throws UpstreamException when none can be opened
   */
  ServerSession session() {
    lock.lock();
    try {
      while (current == null) {
        if (closed) {
          throw new SessionUnavailableException("The bridge is being closed");
        }
        if (!changing) {
          if (opening == null) {
            throw new SessionUnavailableException("No session: initialize comes first");
          }
          changing = true;
          break;
        }
        changed.awaitUninterruptibly();
      }
      if (current != null) {
        return current;
      }
    } finally {
      lock.unlock();
    }
    return reopen();
  }

  /** The server does not know the session any more. */
  void lost(ServerSession gone) {
    lock.lock();
    try {
      if (current == gone) {
        current = null;
        LOG.warn("the server has lost the session; another one is opened");
      }
    } finally {
      lock.unlock();
    }
  }

  private ServerSession reopen() {
    ServerSession fresh = null;
    ServerSession opened = null;
    try {
      Message.Request request = opening();
      fresh = opened(LATER.until(() -> upstream.initialize(request), this::isClosed));
      if (fresh == null) {
        throw new SessionUnavailableException(
            "The session was lost, and the server opens no other");
      }
      requireSameVersion(fresh);
      Body ready = initializedBody();
      if (ready != null) {
        fresh.session().send(ready);
      }
      opened = fresh;
      return fresh;
    } finally {
      if (opened == null && fresh != null) {
        // Nobody will speak in it, and its server would keep it.
        fresh.session().end();
      }
      settle(opened, opening());
    }
  }

  /** What the client was told once must stay true. */
  private void requireSameVersion(ServerSession fresh) {
    lock.lock();
    try {
      if (!fresh.protocolVersion().equals(version)) {
        throw new SessionUnavailableException(
            "The session was lost, and the server now speaks another version; start anew");
      }
    } finally {
      lock.unlock();
    }
  }

  private void settle(@Nullable ServerSession opened, Message.@Nullable Request by) {
    boolean late;
    lock.lock();
    try {
      changing = false;
      late = closed;
      current = late ? null : opened;
      opening = by;
      version = opened == null ? version : opened.protocolVersion();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (late && opened != null) {
      opened.session().end();
    }
  }

  private Message.Request opening() {
    lock.lock();
    try {
      if (opening == null) {
        throw new SessionUnavailableException("No session: initialize comes first");
      }
      return opening;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Body initializedBody() {
    lock.lock();
    try {
      return initialized;
    } finally {
      lock.unlock();
    }
  }

  /** The session, if the client has said that it is ready to hear of it; null otherwise. */
  @Nullable ServerSession ready() {
    lock.lock();
    try {
      return initialized == null ? null : current;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the server has lost the session, and nobody has opened another yet. */
  boolean isLost() {
    lock.lock();
    try {
      return current == null && opening != null && !changing && !closed;
    } finally {
      lock.unlock();
    }
  }

  /** Whether this session is the one to speak in. */
  boolean isCurrent(ServerSession session) {
    lock.lock();
    try {
      return current == session;
    } finally {
      lock.unlock();
    }
  }

  boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the session with the server. */
  void close() {
    ServerSession last;
    lock.lock();
    try {
      closed = true;
      last = current;
      current = null;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (last != null) {
      last.session().end();
    }
  }
}
