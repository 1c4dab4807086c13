package dev.holdfast.call;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Messages that a client sends to a server.
 *
 * @param upstream the configured name of the server
 * @param session the session that the client names; null if it names none
 * @param hasOneStream whether all answers go to one stream of the session, as over HTTP with SSE
 * @param caller the client
 * @param body the messages
 * @param hasLeft returns true once the client's connection has ended
 * @param isPooled whether the client has no session, and the gateway runs its calls in one
 */
public record Exchange(
    String upstream,
    @Nullable SessionId session,
    boolean hasOneStream,
    Caller caller,
    Body body,
    BooleanSupplier hasLeft,
    boolean isPooled) {

  /** Messages of a client that names its session, or has none yet. */
  public Exchange(
      String upstream,
      @Nullable SessionId session,
      boolean hasOneStream,
      Caller caller,
      Body body) {
    this(upstream, session, hasOneStream, caller, body, () -> false, false);
  }

  /** Returns the same messages of a caller of whom other things are known. */
  public Exchange with(Caller other) {
    return new Exchange(upstream, session, hasOneStream, other, body, hasLeft, isPooled);
  }

  /** Returns another body of the same caller, in a session of the gateway. */
  public Exchange with(@Nullable SessionId other, Body messages) {
    return new Exchange(upstream, other, false, caller, messages, hasLeft, true);
  }

  /** Returns the request of a body that opens a session; null if the body does not. */
  public static Message.@Nullable Request initializeIn(Body body) {
    return body instanceof Body.Single(Message.Request request) && request.isInitialize()
        ? request
        : null;
  }
}
