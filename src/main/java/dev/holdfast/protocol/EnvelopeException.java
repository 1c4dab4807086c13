package dev.holdfast.protocol;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Bytes from outside that are not the message they should be. The message is a constant that may be
 * shown to a client; the cause may quote the input and may not.
 *
 * <p>It has no stack trace: any client can cause it at will, and the place in the code tells
 * nothing about the client's mistake.
 */
public final class EnvelopeException extends RuntimeException {
  private final JsonRpcErrorCode code;
  private final transient @Nullable RequestId id;

  EnvelopeException(
      JsonRpcErrorCode code, String message, @Nullable RequestId id, @Nullable Throwable cause) {
    super(message, cause, false, false);
    this.code = code;
    this.id = id;
  }

  /** Returns the code of the error response. */
  public JsonRpcErrorCode code() {
    return code;
  }

  /** Returns the client-safe text of the error response. */
  public String clientMessage() {
    return String.valueOf(getMessage());
  }

  /**
   * Returns the id of the refused message, for the error response to echo. Empty if it could not be
   * read for certain: the body is not JSON, it is a batch, or the id is missing, doubled or of a
   * wrong type.
   */
  public Optional<RequestId> id() {
    return Optional.ofNullable(id);
  }
}
