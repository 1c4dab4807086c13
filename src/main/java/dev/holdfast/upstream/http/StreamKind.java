package dev.holdfast.upstream.http;

/** The content of an SSE stream. It decides when the stream ends. */
enum StreamKind {
  /** The answer to one request. It ends with the response. */
  CALL,
  /** The answer to a batch. It has several responses, so a response alone does not end it. */
  BATCH,
  /**
   * The answer to one request without a session (2026-07-28), for a gateway. No other connection
   * resumes it.
   */
  STATELESS_CALL,
  /** The answer to {@code subscriptions/listen} (2026-07-28). The response comes when it ends. */
  SUBSCRIPTION,
  /** All messages of an HTTP+SSE session. It ends when its connection is lost. */
  CHANNEL,
  /** The standalone stream. It ends when the server no longer offers it. */
  STANDALONE;

  boolean mayBeSilent() {
    return this == STANDALONE || this == CHANNEL || this == SUBSCRIPTION;
  }

  boolean endsWithResponse() {
    return this == CALL || !isResumable();
  }

  /** Returns true if the ids of its events mean anything. */
  boolean isResumable() {
    return this != STATELESS_CALL && this != SUBSCRIPTION;
  }
}
