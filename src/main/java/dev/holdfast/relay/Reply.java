package dev.holdfast.relay;

import dev.holdfast.relay.tail.Tail;

/** The answer to a request. */
public sealed interface Reply {

  /**
   * A JSON document that is not in the log.
   *
   * @param document JSON on one line
   */
  record Json(byte[] document) implements Reply {}

  /**
   * A durable stream.
   *
   * @param tail not yet running
   */
  record Stream(Tail tail) implements Reply {}
}
