package dev.holdfast.merge;

import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The messages of a server as clients of the endpoint get them. */
final class MergedSource extends ForwardingSource {

  private final UnaryOperator<UpstreamMessage> translation;
  private final UnaryOperator<String> ids;

  /**
   * Translates a source.
   *
   * @param ids translates the server's ids of events without a message
   */
  MergedSource(
      MessageSource source, UnaryOperator<UpstreamMessage> translation, UnaryOperator<String> ids) {
    super(source);
    this.translation = translation;
    this.ids = ids;
  }

  /** The loss of a server's session ends its calls, and not the session of the client. */
  @Override
  public List<UpstreamMessage> take() {
    try {
      return translate(source.take());
    } catch (UpstreamException.SessionGone gone) {
      throw new UpstreamException.Broken("the server lost its session", gone);
    }
  }

  @Override
  public List<UpstreamMessage> takeArrived() {
    return translate(source.takeArrived());
  }

  private List<UpstreamMessage> translate(List<UpstreamMessage> messages) {
    return messages.isEmpty() ? messages : messages.stream().map(translation).toList();
  }

  @Override
  public void onIdWithoutMessage(Consumer<String> listener) {
    source.onIdWithoutMessage(id -> listener.accept(ids.apply(id)));
  }

  @Override
  public @Nullable String firstEventId() {
    String first = source.firstEventId();
    return first == null ? null : ids.apply(first);
  }
}
