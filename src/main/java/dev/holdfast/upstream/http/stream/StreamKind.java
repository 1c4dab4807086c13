package dev.holdfast.upstream.http.stream;

/** What a stream is for, and so when it is at its end. */
public enum StreamKind {
  /** The answer to one request. It ends with the response. */
  CALL,
  /** The answer to a batch. It has several responses, so one alone does not end it. */
  BATCH,
  /** All that a server of HTTP+SSE says in a session. It ends when its connection is lost. */
  CHANNEL,
  /** The stream on which the server speaks unasked. It ends when the server takes it back. */
  STANDALONE;

  /** Whether a server that says nothing on it may be at work all the same. */
  boolean mayBeSilent() {
    return this == STANDALONE || this == CHANNEL;
  }
}
