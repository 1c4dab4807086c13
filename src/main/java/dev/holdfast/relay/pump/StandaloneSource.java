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
 * The messages that a server sends outside of requests, for as long as the session lives. A session
 * has one standalone stream and one pump for it. A server that is away for a while must not end the
 * stream, so this source opens the server's stream again. For one reading thread.
 */
public final class StandaloneSource implements MessageSource {

  private static final Logger LOG = Logger.getLogger(StandaloneSource.class);

  private final Opening listen;
  private final RelayListener listener;
  private final Backoff first;
  private final Runnable sessionGone;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final InterruptibleWait opening = new InterruptibleWait();

  /** Set by the reading thread, read by the thread that closes. */
  private volatile @Nullable MessageSource current;

  // Owned by the reading thread.
  private Backoff backoff;
  private @Nullable String lastId;
  private Consumer<String> moved = id -> {};

  /** Opens the server's stream. */
  public interface Opening {

    /**
     * Opens the stream once.
     *
     * @param after the server's id of the last known event; null for none
     * @return empty when the server has no such stream
     */
    Optional<MessageSource> open(@Nullable String after);
  }

  /**
   * Creates a source that opens the server's stream on the first {@link #take}.
   *
   * @param after the server's id of the last known event; null for none
   * @param first the delay after the first failure
   * @param sessionGone runs when the server has ended the session
   */
  public StandaloneSource(
      Opening listen,
      @Nullable String after,
      RelayListener listener,
      Backoff first,
      Runnable sessionGone) {
    this.sessionGone = sessionGone;
    this.listen = listen;
    this.lastId = after;
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
        messages.forEach(
            message -> lastId = message.eventId() == null ? lastId : message.eventId());
        return messages;
      } catch (UpstreamException failure) {
        if (isClosed()) {
          return List.of();
        }
        if (failure instanceof UpstreamException.SessionGone) {
          sessionGone.run();
        }
        if (isFinal(failure)) {
          throw failure;
        }
        current = null;
        listener.upstreamFailed(failure);
        LOG.debugf(
            "standalone stream of the server broke retryIn=%s: %s", backoff.delay(), failure);
        pause();
      }
    }
    return List.of();
  }

  private void moved(String id) {
    lastId = id;
    moved.accept(id);
  }

  @Override
  public void onIdWithoutMessage(Consumer<String> listener) {
    moved = listener;
  }

  private @Nullable MessageSource open() {
    MessageSource opened =
        opening.during(() -> isClosed() ? null : listen.open(lastId).orElse(null));
    if (opened != null) {
      opened.onIdWithoutMessage(this::moved);
    }
    current = opened;
    if (opened != null && isClosed()) {
      opened.close();
    }
    return opened;
  }

  /** Whether another attempt to open a stream cannot succeed. */
  public static boolean isFinal(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.SessionGone _ -> true;
      case UpstreamException.Refused refused -> !isTemporary(refused.status());
      case UpstreamException.Unreachable _,
          UpstreamException.Busy _,
          UpstreamException.TimedOut _,
          UpstreamException.Broken _ ->
          false;
    };
  }

  /**
   * Whether a refusal with this HTTP status may be repeated. 409 is one: the server has not noticed
   * yet that the connection of a lost replica is dead.
   */
  private static boolean isTemporary(int status) {
    return status >= 500 || status == 408 || status == 409 || status == 429;
  }

  private void pause() {
    try {
      boolean _ = closed.await(backoff.delay().toNanos(), TimeUnit.NANOSECONDS);
      backoff = backoff.next();
    } catch (InterruptedException stop) {
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
