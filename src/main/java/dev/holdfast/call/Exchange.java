package dev.holdfast.call;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Messages that a client sends to a server.
 *
 * @param upstream the configured name of the server
 * @param caller the client
 * @param body the messages
 * @param hasLeft returns true once the client's connection has ended
 */
public record Exchange(
    String upstream, Conversation conversation, Caller caller, Body body, BooleanSupplier hasLeft) {

  /** Returns the same messages of a caller of whom other things are known. */
  public Exchange with(Caller other) {
    return new Exchange(upstream, conversation, other, body, hasLeft);
  }

  /** Returns other messages of the same caller. */
  public Exchange with(Body messages) {
    return new Exchange(upstream, conversation, caller, messages, hasLeft);
  }

  /** Returns the request of a body that opens a session; null if the body does not. */
  public static Message.@Nullable Request initializeIn(Body body) {
    return body instanceof Body.Single(Message.Request request) && request.isInitialize()
        ? request
        : null;
  }
}
