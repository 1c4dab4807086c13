package dev.holdfast.upstream;

/** A server's answer to a request. */
public sealed interface Answer {

  /** The messages of either form of answer. The caller closes the source. */
  MessageSource source();

  /**
   * One JSON document: a response, or for a batch an array of responses.
   *
   * @param json the document, on one line
   */
  record Json(byte[] json) implements Answer {
    @Override
    public MessageSource source() {
      return MessageSource.of(json);
    }
  }

  /**
   * A stream of messages that ends with the last response.
   *
   * @param source the messages
   */
  record Stream(MessageSource source) implements Answer {}
}
