package dev.holdfast.upstream.channel;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.List;

/** What the server says that belongs to no request, for as long as the channel lives. */
final class UnsolicitedSource implements MessageSource {

  private final UnsolicitedStream stream;
  private final StreamQueue queue;

  /**
   * @throws UpstreamException.SessionGone if the channel has ended
   */
  UnsolicitedSource(UnsolicitedStream stream) {
    this.stream = stream;
    this.queue = stream.listen();
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      return queue.take(Duration.ZERO);
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the reader was interrupted", e);
    }
  }

  @Override
  public void close() {
    stream.stopListening(queue);
  }
}
