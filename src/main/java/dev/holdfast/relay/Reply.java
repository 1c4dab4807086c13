package dev.holdfast.relay;

import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.relay.tail.Tail;

/** The answer to messages of a client. */
public sealed interface Reply {

  /** The messages need no response, or get it on the stream of their session. */
  record Acknowledgement() implements Reply {}

  /** The answer to {@code initialize}. */
  record Initialization(SessionOpener.InitializeReply opened) implements Reply {}

  /**
   * JSON on one line that is not in the log.
   *
   * @param status the HTTP status
   */
  record Json(byte[] document, int status) implements Reply {}

  /**
   * A durable stream.
   *
   * @param tail not yet running
   * @param isComplete true if the log has the whole stream already
   */
  record Stream(Tail tail, boolean isComplete) implements Reply {

    /** A stream that goes on. */
    public Stream(Tail tail) {
      this(tail, false);
    }
  }
}
