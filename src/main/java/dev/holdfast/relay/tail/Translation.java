package dev.holdfast.relay.tail;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.RequestId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns the messages of a stream into those that one client understands, and ends the response
 * early when the client must act first. For the thread of its tail.
 */
@FunctionalInterface
public interface Translation {

  /** For clients that get the messages as they are in the log. */
  Translation NONE = (_, message) -> message;

  /** Messages before the first one of the stream. */
  default List<byte[]> begin() {
    return List.of();
  }

  /** Messages in place of lost ones. */
  default List<byte[]> afterGap() {
    return List.of();
  }

  /**
   * Translates a message.
   *
   * @param position its position; that of the event before it if the log does not hold it
   * @return the message for the client; empty if the client gets none
   */
  byte[] translate(Position position, byte[] message);

  /**
   * Time after which the response must end early, with {@link #pause}; zero or less if it must end
   * now, and null if it need not.
   */
  default @Nullable Duration untilPause() {
    return null;
  }

  /** Returns true if the client comes back for the rest when the response ends early. */
  default boolean canPause() {
    return false;
  }

  /**
   * Returns the last message of a response that ends before its stream, because it {@link
   * #untilPause must} or because it {@link #canPause can}.
   *
   * @param cursor the last event that the client has
   */
  default byte[] pause(Position cursor) {
    throw new IllegalStateException("the response cannot pause");
  }

  /** Messages while nothing of the stream is left to read. */
  default List<byte[]> atHead() {
    return List.of();
  }

  /** Time after which {@link #atHead} is asked again; null if that can wait for the next event. */
  default @Nullable Duration untilAtHead() {
    return null;
  }

  /** Messages after the last one of the stream. */
  default List<byte[]> atEnd() {
    return List.of();
  }

  /** Returns true if the response has paused, and the client asks for the result in another way. */
  default boolean isHandedOver() {
    return false;
  }

  /** Returns true if the response pauses when a newer tail takes the stream. */
  default boolean pausesForNewerTail() {
    return false;
  }

  /** Notes the requests that a resumed stream answers, before its first message. */
  default void requests(List<RequestId> open) {}

  /**
   * Notes that the response has ended. Returns at once.
   *
   * @param left true if the client has left
   */
  default void closed(boolean left) {}
}
