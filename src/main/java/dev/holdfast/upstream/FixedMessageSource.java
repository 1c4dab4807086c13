package dev.holdfast.upstream;

import java.util.List;

/** A source of messages that have all arrived. For one reading thread. */
public final class FixedMessageSource implements MessageSource {

  private List<UpstreamMessage> left;

  /** A source of one message without an id. */
  public FixedMessageSource(byte[] payload) {
    this(List.of(new UpstreamMessage(payload, null)));
  }

  /** A source of some messages. */
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
    // There is no connection.
  }
}
