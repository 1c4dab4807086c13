package dev.holdfast.relay;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;

/** A source that brings what is there already. Owned by the thread of one {@link Pump}. */
final class GivenMessages implements MessageSource {

  private List<UpstreamMessage> left;

  /** Brings one message. */
  GivenMessages(byte[] payload) {
    this(List.of(new UpstreamMessage(payload, null)));
  }

  /** Brings some messages. */
  GivenMessages(List<UpstreamMessage> messages) {
    this.left = List.copyOf(messages);
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
