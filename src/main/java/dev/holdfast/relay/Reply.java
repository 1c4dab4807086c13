package dev.holdfast.relay;

import dev.holdfast.relay.tail.Tail;
import dev.holdfast.session.Session;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The answer to messages of a client. */
public sealed interface Reply {

  /** The messages need no response, or get it on the stream of their session. */
  record Accepted() implements Reply {}

  /**
   * The answer to {@code initialize}.
   *
   * @param session the new session; null when the upstream refused to open one
   * @param messages of the upstream; the response is the last, and usually the only one
   */
  record Opened(@Nullable Session session, List<byte[]> messages) implements Reply {}

  /** JSON on one line that is not in the log. */
  record Json(byte[] document) implements Reply {}

  /**
   * A durable stream.
   *
   * @param tail not yet running
   */
  record Stream(Tail tail) implements Reply {}
}
