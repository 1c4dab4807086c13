package dev.holdfast.upstream;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A source that passes everything on from another one. Subclasses change what they need to. All
 * messages pass {@link #take}, unless a subclass has a {@link #takeArrived} of its own.
 */
public abstract class ForwardingSource implements MessageSource {

  /** The source of all messages. */
  protected final MessageSource source;

  /** Passes everything on from that source. */
  protected ForwardingSource(MessageSource source) {
    this.source = source;
  }

  @Override
  public List<UpstreamMessage> take() {
    return source.take();
  }

  @Override
  public boolean whenArrived(Runnable action) {
    return source.whenArrived(action);
  }

  @Override
  public boolean hasArrived() {
    return source.hasArrived();
  }

  @Override
  public void onIdWithoutMessage(Consumer<String> listener) {
    source.onIdWithoutMessage(listener);
  }

  @Override
  public @Nullable String firstEventId() {
    return source.firstEventId();
  }

  @Override
  public void close() {
    source.close();
  }
}
