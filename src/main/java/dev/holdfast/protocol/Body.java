package dev.holdfast.protocol;

import java.util.ArrayList;
import java.util.List;

/** The content of one HTTP body, one line or one SSE event: a message or a batch of messages. */
public sealed interface Body {

  /** Returns the exact bytes. The array is shared and must not be changed. */
  byte[] bytes();

  /** The messages, in order; at least one. */
  List<Message> messages();

  /** The ids of the requests among the messages, in order. */
  default List<RequestId> requestIds() {
    List<RequestId> ids = new ArrayList<>(1);
    for (Message message : messages()) {
      if (message instanceof Message.Request request) {
        ids.add(request.id());
      }
    }
    return ids;
  }

  /** The ids of the requests that the messages cancel, in order. */
  default List<RequestId> cancelledRequestIds() {
    return messages().stream()
        .map(Message::cancelledRequestId)
        .<RequestId>mapMulti((id, ids) -> {
          if (id != null) {
            ids.accept(id);
          }
        })
        .toList();
  }

  /**
   * One message.
   *
   * @param message its bytes are the whole body, including white space around it
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
   * A JSON array of messages, as revision 2025-03-26 allows. Which messages may be mixed is not
   * checked here.
   *
   * @param messages the messages in their order, at least one; each has its own exact bytes
   * @param bytes the whole body
   */
  record Batch(List<Message> messages, byte[] bytes) implements Body {

    /** Copies the list, but not the bytes. */
    public Batch {
      messages = List.copyOf(messages);
    }
  }
}
