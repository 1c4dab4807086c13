package dev.holdfast.upstream;

import java.util.List;

/** A source that brings what is there already. For one reading thread. */
public final class FixedMessageSource implements MessageSource {

  private List<UpstreamMessage> left;

  /** Brings one message. */
  public FixedMessageSource(byte[] payload) {
    this(List.of(new UpstreamMessage(payload, null)));
  }

  /** Brings some messages. */
  public FixedMessageSource(List<UpstreamMessage> messages) {
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
