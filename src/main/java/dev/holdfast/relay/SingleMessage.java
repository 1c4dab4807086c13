package dev.holdfast.relay;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;

/** A source that has all it will ever bring. Owned by the thread of one {@link Pump}. */
final class SingleMessage implements MessageSource {

  private List<UpstreamMessage> left;

  private SingleMessage(List<UpstreamMessage> messages) {
    this.left = messages;
  }

  /** Brings one message. */
  SingleMessage(byte[] payload) {
    this(List.of(new UpstreamMessage(payload, null)));
  }

  /** Brings nothing. */
  static MessageSource none() {
    return new SingleMessage(List.of());
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
