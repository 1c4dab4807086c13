package dev.holdfast.upstream;

/** How a server answers a request. */
public sealed interface Answer {

  /**
   * With one JSON document: a response, or for a batch an array of them.
   *
   * @param json the document, on one line
   */
  record Json(byte[] json) implements Answer {}

  /**
   * With a stream of messages, the last of which is the (last) response.
   *
   * @param source the messages; the caller closes it
   */
  record Stream(MessageSource source) implements Answer {}
}
