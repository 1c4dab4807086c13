package dev.holdfast.relay.pump;

import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * What a server says unasked, for as long as the session lives. A session has one such stream and
 * one pump for it, so a server that cannot be reached for a while must not end it: it is asked
 * again. For one reading thread.
 */
public final class StandaloneSource implements MessageSource {

  private static final Logger LOG = Logger.getLogger(StandaloneSource.class);

  private final Opening listen;
  private final RelayListener listener;
  private final Backoff first;
  private final Runnable gone;
  private final CountDownLatch closed = new CountDownLatch(1);

  /** For the head of the server's answer. */
  private final InterruptibleWait opening = new InterruptibleWait();

  /** Set by the reading thread, read by one that closes. */
  private volatile @Nullable MessageSource current;

  // The reading thread's own.
  private Backoff backoff;
  private @Nullable String after;
  private Consumer<String> moved = id -> {};

  /** Opens the server's stream. */
  public interface Opening {

    /**
     * Opens it once.
     *
     * @param after the server's id of the last event that is known; null for none
     * @return nothing when the server has no such stream
     */
    Optional<MessageSource> open(@Nullable String after);
  }

  /**
   * Opens nothing yet.
   *
   * @param after the server's id of the last event that is known; null for none
   * @param first how long to wait after the first failure
   * @param gone is told when the server has ended the session
   */
  public StandaloneSource(
      Opening listen,
      @Nullable String after,
      RelayListener listener,
      Backoff first,
      Runnable gone) {
    this.gone = gone;
    this.listen = listen;
    this.after = after;
    this.listener = listener;
    this.first = first;
    this.backoff = first;
  }

  @Override
  public List<UpstreamMessage> take() {
    while (!isClosed()) {
      try {
        MessageSource source = current == null ? open() : current;
        if (source == null) {
          return List.of();
        }
        List<UpstreamMessage> messages = source.take();
        backoff = first;
        messages.forEach(this::passed);
        return messages;
      } catch (UpstreamException failure) {
        if (isClosed()) {
          return List.of();
        }
        if (failure instanceof UpstreamException.SessionGone) {
          gone.run();
        }
        if (isFinal(failure)) {
          throw failure;
        }
        current = null;
        listener.upstreamFailed(failure);
        LOG.debugf("the server is listened to again in %s: %s", backoff.delay(), failure);
        pause();
      }
    }
    return List.of();
  }

  private void passed(UpstreamMessage message) {
    after = message.eventId() == null ? after : message.eventId();
  }

  private void moved(String id) {
    after = id;
    moved.accept(id);
  }

  @Override
  public void whenMoved(Consumer<String> listener) {
    moved = listener;
  }

  private @Nullable MessageSource open() {
    MessageSource opened =
        opening.during(() -> isClosed() ? null : listen.open(after).orElse(null));
    if (opened != null) {
      opened.whenMoved(this::moved);
    }
    current = opened;
    if (opened != null && isClosed()) {
      opened.close();
    }
    return opened;
  }

  private static boolean isFinal(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.SessionGone _ -> true;
      case UpstreamException.Refused refused -> !saysNotNow(refused.status());
      case UpstreamException.Unreachable _, UpstreamException.Busy _ -> false;
      case UpstreamException.TimedOut _ -> false;
      case UpstreamException.Broken _ -> false;
    };
  }

  /** Among them 409: the server has not noticed yet that a lost replica's connection is dead. */
  public static boolean saysNotNow(int status) {
    return status >= 500 || status == 408 || status == 409 || status == 429;
  }

  private void pause() {
    try {
      boolean _ = closed.await(backoff.delay().toNanos(), TimeUnit.NANOSECONDS);
      backoff = backoff.next();
    } catch (InterruptedException stopped) {
      close();
      Thread.currentThread().interrupt();
    }
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }

  @Override
  public void close() {
    closed.countDown();
    MessageSource open = current;
    if (open != null) {
      open.close();
    }
    opening.end();
  }
}
