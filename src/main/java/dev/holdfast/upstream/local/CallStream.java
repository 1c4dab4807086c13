package dev.holdfast.upstream.local;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;

/**
 * The answer to one or more calls. Whoever closes it before its end gives the calls up: they are
 * cancelled.
 */
final class CallStream implements MessageSource {

  private final MessageQueue queue;
  private final List<RunningCall> calls;

  CallStream(MessageQueue queue, List<RunningCall> calls) {
    this.queue = queue;
    this.calls = List.copyOf(calls);
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      return queue.take();
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the reader was interrupted", e);
    }
  }

  @Override
  public void close() {
    queue.close();
    calls.forEach(RunningCall::cancel);
  }
}
