package dev.holdfast.relay;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * What a server says unasked, for as long as the session lives. A session has one such stream and
 * one pump for it, so a server that cannot be reached for a while must not end it: it is asked
 * again. For one reading thread.
 */
final class StandaloneSource implements MessageSource {

  private static final Logger LOG = Logger.getLogger(StandaloneSource.class);

  private final Supplier<Optional<MessageSource>> listen;
  private final RelayListener listener;
  private final Backoff first;
  private final CountDownLatch closed = new CountDownLatch(1);

  /** Set by the reading thread, read by one that closes. */
  private volatile @Nullable MessageSource current;

  /** The reading thread's own. */
  private Backoff backoff;

  /**
   * Opens nothing yet.
   *
   * @param listen opens the server's stream; gives nothing when the server has none
   * @param first how long to wait after the first failure
   */
  StandaloneSource(
      Supplier<Optional<MessageSource>> listen, RelayListener listener, Backoff first) {
    this.listen = listen;
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
        return messages;
      } catch (UpstreamException failure) {
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

  private @Nullable MessageSource open() {
    MessageSource opened = listen.get().orElse(null);
    current = opened;
    if (opened != null && isClosed()) {
      opened.close();
    }
    return opened;
  }

  private static boolean isFinal(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.SessionGone _ -> true;
      // 408 and 429 say not now, other 4xx say no.
      case UpstreamException.Refused refused ->
          refused.status() < 500 && refused.status() != 408 && refused.status() != 429;
      case UpstreamException.Unreachable _ -> false;
      case UpstreamException.TimedOut _ -> false;
      case UpstreamException.Broken _ -> false;
    };
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
  }
}
