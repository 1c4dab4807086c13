package dev.holdfast.relay;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;

/** A source that brings one message. Owned by the thread of one {@link Pump}. */
final class SingleMessage implements MessageSource {

  private List<UpstreamMessage> left;

  SingleMessage(byte[] payload) {
    this.left = List.of(new UpstreamMessage(payload, null));
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
