package dev.holdfast.upstream.renewal;

import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Messages of a session that was renewed, or that may be renewed while its stream is read. */
final class RenewedSource extends ForwardingSource {

  private final ServerSession at;
  private final boolean standalone;
  private volatile boolean abandoned;
  private volatile Runnable onClose = () -> {};

  /**
   * The messages of a stream.
   *
   * @param standalone whether the reader opens the stream again after a failure
   */
  RenewedSource(MessageSource source, ServerSession at, boolean standalone) {
    super(source);
    this.at = at;
    this.standalone = standalone;
  }

  /** The session to which the stream belongs. */
  ServerSession at() {
    return at;
  }

  void onClose(Runnable action) {
    onClose = action;
  }

  /** Ends the stream with a failure: there is another session. */
  void abandon() {
    abandoned = true;
    source.close();
  }

  @Override
  public List<UpstreamMessage> take() {
    List<UpstreamMessage> messages = taken(source::take);
    if (messages.isEmpty()) {
      onClose.run();
    }
    return messages;
  }

  @Override
  public List<UpstreamMessage> takeArrived() {
    return taken(source::takeArrived);
  }

  private List<UpstreamMessage> taken(Supplier<List<UpstreamMessage>> take) {
    try {
      List<UpstreamMessage> messages = take.get();
      if (messages.isEmpty() && abandoned) {
        throw lost(null);
      }
      return at.number() == 0 ? messages : messages.stream().map(this::outside).toList();
    } catch (UpstreamException failure) {
      onClose.run(); // A stream that failed is not always closed.
      throw standalone && failure instanceof UpstreamException.SessionGone
          ? lost(failure)
          : failure;
    }
  }

  private static UpstreamException lost(@Nullable Throwable cause) {
    return new UpstreamException.Broken("the server has forgotten the session", cause);
  }

  private UpstreamMessage outside(UpstreamMessage message) {
    return message.withEventId(at.outside(message.eventId()));
  }

  @Override
  public void onIdWithoutMessage(Consumer<String> listener) {
    super.onIdWithoutMessage(id -> listener.accept(String.valueOf(at.outside(id))));
  }

  @Override
  public @Nullable String firstEventId() {
    return at.outside(super.firstEventId());
  }

  @Override
  public void close() {
    super.close();
    onClose.run();
  }
}
