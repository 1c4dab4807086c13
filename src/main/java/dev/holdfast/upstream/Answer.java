package dev.holdfast.upstream;

import java.util.List;

/** A server's answer to a request. */
public sealed interface Answer {

  /** Responses that have all arrived. */
  static Answer of(List<byte[]> responses) {
    List<UpstreamMessage> messages =
        responses.stream().map(response -> new UpstreamMessage(response, null)).toList();
    return messages.size() == 1
        ? new Json(messages.getFirst())
        : new Stream(MessageSource.of(messages));
  }

  /** The messages of either form of answer. The caller closes the source. */
  MessageSource source();

  /**
   * One JSON document: a response, or for a batch an array of responses.
   *
   * @param message the document, on one line
   * @param release gives its memory back; for a reader other than that of {@link #source}
   */
  record Json(UpstreamMessage message, Runnable release) implements Answer {

    /** A document whose memory is not counted. */
    public Json(UpstreamMessage message) {
      this(message, () -> {});
    }

    /** A document that was not read yet. Not copied, so it must not be changed. */
    public Json(byte[] json) {
      this(new UpstreamMessage(json, null));
    }

    /** The exact bytes of the document. */
    public byte[] json() {
      return message.payload();
    }

    @Override
    public MessageSource source() {
      return MessageSource.of(List.of(message), release);
    }
  }

  /**
   * A stream of messages that ends with the last response.
   *
   * @param source the messages
   */
  record Stream(MessageSource source) implements Answer {}
}
