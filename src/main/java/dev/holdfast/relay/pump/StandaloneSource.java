package dev.holdfast.relay.pump;

import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a server sends outside of requests, for as long as the session lives. A session
 * has one standalone stream and one pump for it. A server that is away for a while must not end the
 * stream, so this source opens the server's stream again. For one reading thread.
 */
public final class StandaloneSource implements MessageSource {

  private static final Logger LOG = Logger.getLogger(StandaloneSource.class);

  private final Function<@Nullable String, Optional<MessageSource>> listen;
  private final Consumer<UpstreamException> failures;
  private final Backoff first;
  private final Runnable sessionGone;
  private final Runnable noStream;
  private final ClosableSource current = new ClosableSource();

  // Owned by the reading thread.
  private Backoff backoff;
  private @Nullable String lastId;
  private Consumer<String> moved = id -> {};

  /** True if the server has no such stream. */
  private boolean none;

  /** A failure without a waiting thread. The next {@link #take} handles it. */
  private @Nullable Throwable failure;

  /**
   * Creates a source that opens the server's stream on the first {@link #whenArrived} or {@link
   * #take}.
   *
   * @param listen opens the stream after the event with that id of the server; returns empty when
   *     the server has no such stream
   * @param after the server's id of the last known event; null for none
   * @param failures gets each failure after which the source opens the stream again
   * @param first the delays after failures
   * @param sessionGone runs when the server has ended the session
   * @param noStream runs when the server has no such stream
   */
  public StandaloneSource(
      Function<@Nullable String, Optional<MessageSource>> listen,
      @Nullable String after,
      Consumer<UpstreamException> failures,
      Backoff first,
      Runnable sessionGone,
      Runnable noStream) {
    this.sessionGone = sessionGone;
    this.noStream = noStream;
    this.listen = listen;
    this.lastId = after;
    this.failures = failures;
    this.first = first;
    this.backoff = first;
  }

  @Override
  public List<UpstreamMessage> take() {
    while (!current.isClosed()) {
      try {
        return taken(takeOnce());
      } catch (UpstreamException failure) {
        if (current.isClosed()) {
          return List.of();
        }
        if (failure instanceof UpstreamException.SessionGone) {
          sessionGone.run();
        }
        if (isFinal(failure)) {
          throw failure;
        }
        current.forget();
        failures.accept(failure);
        LOG.debugf(
            "standalone stream of the server broke retryIn=%s: %s", backoff.delay(), failure);
        current.pause(backoff.delay());
        backoff = backoff.next();
      }
    }
    return List.of();
  }

  @Override
  public List<UpstreamMessage> takeArrived() {
    MessageSource source = current.current();
    try {
      return source == null ? List.of() : taken(source.takeArrived());
    } catch (Throwable unexpected) {
      failure = unexpected;
      return List.of();
    }
  }

  /** {@inheritDoc} The first call waits until the server's stream is open. */
  @Override
  public boolean whenArrived(Runnable action) {
    try {
      MessageSource source = failure == null ? openedOnce() : null;
      return source != null && !current.isClosed() && source.whenArrived(action);
    } catch (Throwable unexpected) {
      failure = unexpected;
      return false;
    }
  }

  /** An unexpected failure must not silence the stream: the session has no other one. */
  private List<UpstreamMessage> takeOnce() {
    MessageSource source = current.current();
    try {
      if (failure != null) {
        Throwable earlier = failure;
        failure = null;
        throw earlier;
      }
      source = openedOnce();
      return source == null ? List.of() : source.take();
    } catch (UpstreamException expected) {
      throw expected;
    } catch (Throwable unexpected) {
      if (source != null) {
        source.close();
      }
      LOG.error("standalone stream failed unexpectedly", unexpected);
      throw new UpstreamException.Broken("the gateway failed", unexpected);
    }
  }

  private List<UpstreamMessage> taken(List<UpstreamMessage> messages) {
    backoff = messages.isEmpty() ? backoff : first;
    messages.forEach(message -> lastId = message.eventId() == null ? lastId : message.eventId());
    return messages;
  }

  private void moved(String id) {
    lastId = id;
    moved.accept(id);
  }

  @Override
  public void onIdWithoutMessage(Consumer<String> listener) {
    moved = listener;
  }

  private @Nullable MessageSource openedOnce() {
    MessageSource open = current.current();
    return open != null || none ? open : open();
  }

  private @Nullable MessageSource open() {
    MessageSource opened =
        current.open(() -> current.isClosed() ? null : listen.apply(lastId).orElse(null));
    if (opened == null) {
      none = true;
      if (!current.isClosed()) {
        noStream.run();
      }
    } else {
      opened.onIdWithoutMessage(this::moved);
    }
    return opened;
  }

  /** Returns true if another attempt to open a stream cannot succeed. */
  public static boolean isFinal(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.SessionGone _ -> true;
      case UpstreamException.Refused refused -> !refused.isTemporary();
      case UpstreamException.Unreachable _,
          UpstreamException.Busy _,
          UpstreamException.NoToken _,
          UpstreamException.TimedOut _,
          UpstreamException.TooLarge _,
          UpstreamException.Broken _ ->
          false;
    };
  }

  @Override
  public void close() {
    current.close();
  }
}
