package dev.holdfast.relay.tail;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.RequestId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A translation that leaves everything to another one. Subclasses change what they need to. */
public abstract class ForwardingTranslation implements Translation {

  /** The translation that comes first. */
  protected final Translation inner;

  /** Leaves everything to that translation. */
  protected ForwardingTranslation(Translation inner) {
    this.inner = inner;
  }

  @Override
  public List<byte[]> begin() {
    return inner.begin();
  }

  @Override
  public List<byte[]> afterGap() {
    return inner.afterGap();
  }

  @Override
  public byte[] translate(Position position, byte[] message) {
    return inner.translate(position, message);
  }

  @Override
  public @Nullable Duration untilPause() {
    return inner.untilPause();
  }

  @Override
  public boolean canPause() {
    return inner.canPause();
  }

  @Override
  public byte[] pause(Position cursor) {
    return inner.pause(cursor);
  }

  @Override
  public List<byte[]> atHead() {
    return inner.atHead();
  }

  @Override
  public @Nullable Duration untilAtHead() {
    return inner.untilAtHead();
  }

  @Override
  public List<byte[]> atEnd() {
    return inner.atEnd();
  }

  @Override
  public boolean isHandedOver() {
    return inner.isHandedOver();
  }

  @Override
  public boolean pausesForNewerTail() {
    return inner.pausesForNewerTail();
  }

  @Override
  public void requests(List<RequestId> open) {
    inner.requests(open);
  }

  @Override
  public void closed(boolean left) {
    inner.closed(left);
  }
}
