package dev.holdfast.protocol;

import org.jspecify.annotations.Nullable;

/**
 * One JSON-RPC message: what a gateway needs to know of it, and its exact bytes.
 *
 * <p>The byte arrays are not copied, neither on the way in nor on the way out: whoever holds one
 * must not change it. Because of them, two messages are equal only if they share the same array.
 */
public sealed interface Message {

  /** Returns the exact body as it was received: one JSON object. Shared; must not be changed. */
  byte[] bytes();

  /**
   * A message that wants an answer.
   *
   * @param id the id that the answer will carry
   * @param method the method's name
   * @param toolName {@code params.name} of a {@code tools/call}, if it is a string
   * @param progressToken the raw JSON of {@code params._meta.progressToken}, if it is a string or a
   *     number
   * @param bytes the exact body
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes pass through; a copy per message costs too much
  record Request(
      RequestId id,
      String method,
      @Nullable String toolName,
      @Nullable String progressToken,
      byte[] bytes)
      implements Message {}

  /**
   * A message that wants no answer.
   *
   * @param method the method's name
   * @param cancelledRequestId {@code params.requestId} of a {@code notifications/cancelled}, if it
   *     is a string or a number
   * @param progressToken the raw JSON of {@code params.progressToken} of a {@code
   *     notifications/progress}, if it is a string or a number
   * @param bytes the exact body
   */
  @SuppressWarnings("ArrayRecordComponent") // as above
  record Notification(
      String method,
      @Nullable RequestId cancelledRequestId,
      @Nullable String progressToken,
      byte[] bytes)
      implements Message {}

  /**
   * The answer to a request.
   *
   * @param id the id of the request; null only in an error about a message whose id was unreadable
   * @param error true if it carries an error, false if it carries a result
   * @param bytes the exact body
   */
  @SuppressWarnings("ArrayRecordComponent") // as above
  record Response(@Nullable RequestId id, boolean error, byte[] bytes) implements Message {}
}
