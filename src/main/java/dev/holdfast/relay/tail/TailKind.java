package dev.holdfast.relay.tail;

/** The origin of the cursor of a {@link Tail}. */
public enum TailKind {
  /** A request: the tail begins at the start of the stream. */
  REQUEST,
  /** {@code Last-Event-ID}: the client has the cursor. */
  RESUMED,
  /** A plain GET: the client has no cursor and gets the events that were not delivered yet. */
  STANDALONE,
  /** One of several clients that follow the standalone stream from its end on. */
  SHARED,
  /** A GET with an unreadable cursor: the client gets all events of the log. */
  FROM_START
}
