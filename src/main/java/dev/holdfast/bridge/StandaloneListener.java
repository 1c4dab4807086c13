package dev.holdfast.bridge;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.List;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Passes on what the server says unasked in one session, for as long as that is the session. */
final class StandaloneListener implements Runnable {

  private static final Logger LOG = Logger.getLogger(StandaloneListener.class);
  private static final Duration FIRST = Duration.ofMillis(250);
  private static final Duration LONGEST = Duration.ofSeconds(10);

  private final BridgeSession conversation;
  private final ServerSession session;
  private final ClientOutput out;

  /** Set by the thread that runs this, read by one that closes. */
  private volatile @Nullable MessageSource source;

  private volatile boolean closed;

  // The running thread's own.
  private @Nullable String last;
  private Duration delay = FIRST;

  StandaloneListener(BridgeSession conversation, ServerSession session, ClientOutput out) {
    this.conversation = conversation;
    this.session = session;
    this.out = out;
  }

  /** Returns when the server offers nothing of the kind, or the session is over. */
  @Override
  public void run() {
    try {
      while (!closed && conversation.isCurrent(session) && listen()) {
        Thread.sleep(delay);
        Duration longer = delay.multipliedBy(2);
        delay = longer.compareTo(LONGEST) < 0 ? longer : LONGEST;
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether to try again. */
  private boolean listen() {
    try (MessageSource messages = session.session().listen(last).orElse(null)) {
      if (messages == null) {
        return false;
      }
      messages.whenMoved(id -> last = id);
      source = messages;
      if (!closed) {
        pass(messages);
      }
      return false;
    } catch (UpstreamException.SessionGone gone) {
      conversation.lost(session);
      return false;
    } catch (UpstreamException failure) {
      LOG.debugf("the server is listened to again in %s: %s", delay, failure.getMessage());
      return true;
    }
  }

  private void pass(MessageSource messages) {
    List<UpstreamMessage> taken = messages.take();
    while (!taken.isEmpty()) {
      for (UpstreamMessage message : taken) {
        out.write(message.payload());
        last = message.eventId() == null ? last : message.eventId();
      }
      delay = FIRST;
      taken = messages.take();
    }
  }

  /** Whether this is what the server says in that session. */
  boolean isOf(ServerSession other) {
    return session == other;
  }

  void close() {
    closed = true;
    MessageSource messages = source;
    if (messages != null) {
      messages.close();
    }
  }
}
