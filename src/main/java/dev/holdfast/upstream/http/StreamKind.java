package dev.holdfast.upstream.http;

/** The content of an SSE stream. It decides when the stream ends. */
enum StreamKind {
  /** The answer to one request. It ends with the response. */
  CALL,
  /** The answer to a batch. It has several responses, so a response alone does not end it. */
  BATCH,
  /** All messages of an HTTP+SSE session. It ends when its connection is lost. */
  CHANNEL,
  /** The standalone stream. It ends when the server no longer offers it. */
  STANDALONE;

  boolean mayBeSilent() {
    return this == STANDALONE || this == CHANNEL;
  }
}
