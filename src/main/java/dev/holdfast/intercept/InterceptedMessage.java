package dev.holdfast.intercept;

import dev.holdfast.protocol.Message;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A message on its way.
 *
 * @param message the message
 * @param direction where it goes
 * @param upstream the configured name of the server
 * @param session the gateway's id of the session; null before the server has accepted it
 * @param principal the issuer and the subject of the client, with a space between them: {@code key
 *     alice}; null when the gateway does not ask
 * @param scopes the client's scopes for this request, of those that {@link Interceptor#namedScopes}
 *     names. Without any when a replica continues a call of a lost one
 * @param request the client's request that a response answers; null for other messages, and when a
 *     replica continues a call of a lost one
 */
public record InterceptedMessage(
    Message message,
    Direction direction,
    String upstream,
    @Nullable String session,
    @Nullable String principal,
    Set<String> scopes,
    Message.@Nullable Request request) {

  /** Direction of a message. */
  public enum Direction {
    TO_SERVER,
    TO_CLIENT
  }

  /** The method of the message, or of the request that it answers; null when that is unknown. */
  public @Nullable String method() {
    return switch (message) {
      case Message.Request sent -> sent.method();
      case Message.Notification sent -> sent.method();
      case Message.Response _ -> request == null ? null : request.method();
    };
  }

  /** The tool that the message calls, or whose result it is; null when that is unknown. */
  public @Nullable String tool() {
    Message.Request call = message instanceof Message.Request sent ? sent : request;
    return call == null ? null : call.toolName();
  }

  /** Returns whether this is the result of a request of the client, and not an error. */
  boolean isResult() {
    return direction == Direction.TO_CLIENT
        && message instanceof Message.Response response
        && !response.error();
  }

  InterceptedMessage with(Message replacement) {
    return new InterceptedMessage(
        replacement, direction, upstream, session, principal, scopes, request);
  }
}
