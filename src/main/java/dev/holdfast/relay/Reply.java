package dev.holdfast.relay;

import dev.holdfast.relay.tail.Tail;

/** How a request is answered. */
public sealed interface Reply {

  /**
   * With a document that was not logged.
   *
   * @param document JSON on one line
   */
  record Json(byte[] document) implements Reply {}

  /**
   * With a durable stream.
   *
   * @param tail not yet running
   */
  record Stream(Tail tail) implements Reply {}
}
