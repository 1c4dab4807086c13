package dev.holdfast.call;

import dev.holdfast.protocol.Message;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The place of a client's messages: a session, or a request alone. */
public sealed interface Conversation {

  /** A session over Streamable HTTP that a request opens. */
  record Opening(Message.Request initialize) implements Conversation {}

  /** A session of a client. */
  sealed interface InSession extends Conversation {
    /** The id that the client names. */
    SessionId id();
  }

  /** A session over Streamable HTTP: each request may have a stream of its own. */
  record Streamable(SessionId id) implements InSession {}

  /** A session over HTTP with SSE: all answers go to its one stream. */
  record Sse(SessionId id) implements InSession {}

  /**
   * A request of a client without a session (2026-07-28), which the gateway runs in one of its own.
   *
   * @param header returns the value of a header; null for none
   */
  record Single(UnaryOperator<@Nullable String> header) implements Conversation {}
}
