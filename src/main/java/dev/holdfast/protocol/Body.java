package dev.holdfast.protocol;

import java.util.List;

/** What one HTTP body, one line or one SSE event holds: a message or a batch of them. */
public sealed interface Body {

  /** Returns the exact bytes. Shared; must not be changed. */
  byte[] bytes();

  /** The messages, in order; at least one. */
  List<Message> messages();

  /** The ids of the requests among the messages, in order. */
  default List<RequestId> requestIds() {
    return messages().stream()
        .filter(Message.Request.class::isInstance)
        .map(message -> ((Message.Request) message).id())
        .toList();
  }

  /**
   * One message.
   *
   * @param message the message; its bytes are the whole body, white space around it included
   */
  record Single(Message message) implements Body {
    @Override
    public byte[] bytes() {
      return message.bytes();
    }

    @Override
    public List<Message> messages() {
      return List.of(message);
    }
  }

  /**
   * A JSON array of messages, as protocol revision 2025-03-26 allows. Which messages may be mixed
   * is not checked here.
   *
   * @param messages the messages in their order, never none; each has its own exact bytes
   * @param bytes the whole body
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes pass through; see Message
  record Batch(List<Message> messages, byte[] bytes) implements Body {

    /** Copies the list, but not the bytes. */
    public Batch {
      messages = List.copyOf(messages);
    }
  }
}
