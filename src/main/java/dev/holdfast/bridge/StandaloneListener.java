package dev.holdfast.bridge;

import dev.holdfast.bridge.BridgeSession.ServerSession;
import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Passes the standalone stream of one session to the client, until the session is replaced. */
final class StandaloneListener implements Runnable {

  private static final Logger LOG = Logger.getLogger(StandaloneListener.class);
  private static final Backoff BACKOFF =
      new Backoff(Duration.ofMillis(250), Duration.ofSeconds(10));

  private final BridgeSession bridgeSession;
  private final ServerSession session;
  private final ClientOutput out;

  /** Set by the listening thread, read by a closing thread. */
  private volatile @Nullable MessageSource source;

  private volatile boolean closed;

  // Owned by the listening thread.
  private @Nullable String cursor;
  private Backoff backoff = BACKOFF;

  StandaloneListener(BridgeSession bridgeSession, ServerSession session, ClientOutput out) {
    this.bridgeSession = bridgeSession;
    this.session = session;
    this.out = out;
  }

  /** Returns when the server offers no standalone stream, or the session is over. */
  @Override
  public void run() {
    try {
      while (!closed && bridgeSession.isCurrent(session) && listen()) {
        Thread.sleep(backoff.delay());
        backoff = backoff.next();
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean listen() {
    try (MessageSource messages = session.upstream().listen(cursor).orElse(null)) {
      if (messages == null) {
        return false;
      }
      messages.onIdWithoutMessage(id -> cursor = id);
      source = messages;
      if (!closed) {
        messages.forEach(this::pass);
      }
      return false;
    } catch (UpstreamException.SessionGone gone) {
      bridgeSession.lost(session);
      return false;
    } catch (UpstreamException failure) {
      LOG.debugf(
          "standalone stream failed: retry=%s cause=%s", backoff.delay(), failure.getMessage());
      return true;
    }
  }

  private void pass(UpstreamMessage message) {
    out.write(message.payload());
    cursor = message.eventId() == null ? cursor : message.eventId();
    backoff = BACKOFF;
  }

  boolean isOf(ServerSession other) {
    return session.equals(other);
  }

  void close() {
    closed = true;
    MessageSource messages = source;
    if (messages != null) {
      messages.close();
    }
  }
}
