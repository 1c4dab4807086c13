package dev.holdfast.upstream.channel;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;

/** Messages that were all there before. For one reading thread. */
final class PreparedSource implements MessageSource {

  private List<UpstreamMessage> left;

  PreparedSource(List<byte[]> messages) {
    left = messages.stream().map(message -> new UpstreamMessage(message, null)).toList();
  }

  @Override
  public List<UpstreamMessage> take() {
    List<UpstreamMessage> taken = left;
    left = List.of();
    return taken;
  }

  @Override
  public void close() {
    // There is no connection to let go of.
  }
}
