package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Messages of a server, as they arrive. For one reading thread at a time.
 *
 * <p>A source buffers a bounded amount of messages and then makes the server wait. If the server
 * gives ids to its events, the source resumes a broken connection by itself.
 */
public interface MessageSource extends AutoCloseable {

  /** A source of messages that have all arrived. */
  static MessageSource of(List<UpstreamMessage> messages) {
    return of(messages, () -> {});
  }

  /** The same with an action for {@link #close}, which must be idempotent. */
  static MessageSource of(List<UpstreamMessage> messages, Runnable onClose) {
    return new MessageSource() {
      private List<UpstreamMessage> left = List.copyOf(messages);

      @Override
      public List<UpstreamMessage> take() {
        List<UpstreamMessage> taken = left;
        left = List.of();
        return taken;
      }

      @Override
      public boolean hasArrived() {
        return true;
      }

      @Override
      public void close() {
        onClose.run();
      }
    };
  }

  /**
   * Waits for messages and takes all that have arrived.
   *
   * @return at least one message, in order; an empty list at the end of the source
   * @throws UpstreamException when the stream broke and cannot be resumed; the source is closed
   */
  List<UpstreamMessage> take();

  /**
   * Takes the messages that have arrived. Never waits.
   *
   * @return an empty list if there are none, or if {@link #take} must be called for them
   */
  default List<UpstreamMessage> takeArrived() {
    return List.of();
  }

  /**
   * Runs an action when {@link #take} would not wait, so that the reader needs no thread until
   * then. It runs once, on any thread, which may be one that must not be blocked. It may run
   * earlier. The first call may wait until a connection is made, but no call within such an action.
   *
   * @return false if {@link #take} would not wait now, or if this source cannot tell; the action
   *     does not run
   */
  default boolean whenArrived(Runnable action) {
    return false;
  }

  /** Returns true if all messages have arrived, so that {@link #take} never waits. */
  default boolean hasArrived() {
    return false;
  }

  /**
   * Takes messages until the first response. Ignores all others.
   *
   * @return null at the end of the source
   * @throws UpstreamException as {@link #take} does
   */
  default Message.@Nullable Response response() {
    for (var taken = take(); !taken.isEmpty(); taken = take()) {
      for (UpstreamMessage message : taken) {
        if (message.body() instanceof Body.Single(Message.Response response)) {
          return response;
        }
      }
    }
    return null;
  }

  /**
   * Takes all messages until the end of the source.
   *
   * @throws UpstreamException as {@link #take} does
   */
  default void forEach(Consumer<UpstreamMessage> action) {
    for (var taken = take(); !taken.isEmpty(); taken = take()) {
      taken.forEach(action);
    }
  }

  /**
   * Sets a listener for ids of events without a message. The stream can be resumed after those
   * events, too. Sources without such events never call it.
   *
   * @param listener gets the id on the reading thread; must not block
   */
  default void onIdWithoutMessage(Consumer<String> listener) {}

  /** Returns the id of the first event with an id; null if there was none. */
  default @Nullable String firstEventId() {
    return null;
  }

  /** Closes the connection. A thread in {@link #take} gets an empty list. Idempotent. */
  @Override
  void close();
}
