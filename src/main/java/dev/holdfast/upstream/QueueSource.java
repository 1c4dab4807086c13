package dev.holdfast.upstream;

import java.time.Duration;
import java.util.List;

/** The reader's end of a {@link MessageQueue}. For one reading thread. */
public final class QueueSource implements MessageSource {

  private final MessageQueue queue;
  private final Duration idleTimeout;
  private final Runnable onTimeout;
  private final Runnable onClose;

  /**
   * Reads a queue whose writers may be silent for ever.
   *
   * @param onClose closes the queue; idempotent
   */
  public QueueSource(MessageQueue queue, Runnable onClose) {
    this(queue, Duration.ZERO, () -> {}, onClose);
  }

  /**
   * Reads a queue whose writers must not be silent for long.
   *
   * @param idleTimeout zero lets the writers be silent for ever
   * @param onTimeout runs after a timeout, before {@link #take()} throws
   * @param onClose closes the queue; idempotent
   */
  public QueueSource(
      MessageQueue queue, Duration idleTimeout, Runnable onTimeout, Runnable onClose) {
    this.queue = queue;
    this.idleTimeout = idleTimeout;
    this.onTimeout = onTimeout;
    this.onClose = onClose;
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      return queue.take(idleTimeout);
    } catch (UpstreamException.TimedOut e) {
      onTimeout.run();
      throw e;
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the reader was interrupted", e);
    }
  }

  @Override
  public void close() {
    onClose.run();
  }
}
