package dev.holdfast.upstream;

import java.time.Duration;
import java.util.List;

/**
 * The reader's end of a {@link MessageQueue}. For one reading thread.
 *
 * @param idleTimeout bound of the writers' silence; zero for none
 * @param onTimeout runs after a timeout, before {@link #take()} throws
 * @param onClose closes the queue; idempotent
 */
public record QueueSource(
    MessageQueue queue, Duration idleTimeout, Runnable onTimeout, Runnable onClose)
    implements MessageSource {

  /** Reads a queue whose writers may be silent for ever. */
  public QueueSource(MessageQueue queue, Runnable onClose) {
    this(queue, Duration.ZERO, () -> {}, onClose);
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
