package dev.holdfast.protocol;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Bytes from a peer that are not a valid message. The exception message is a constant that clients
 * may see. The cause may quote the input, so clients must not see it.
 *
 * <p>It has no stack trace, since any client can cause it at will.
 */
public sealed class EnvelopeException extends RuntimeException {

  /**
   * The message has an id, a name or a token that is longer than the gateway keeps. It is not the
   * response to any request that the gateway has accepted.
   */
  public static final class FieldTooLong extends EnvelopeException {
    FieldTooLong(String field, @Nullable RequestId id) {
      super(
          JsonRpcErrorCode.INVALID_REQUEST,
          "Invalid Request: %s is longer than %d bytes".formatted(field, Envelopes.MAX_FIELD_BYTES),
          id,
          null);
    }
  }

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

  /** Returns the text of the error response. */
  public String clientMessage() {
    return String.valueOf(getMessage());
  }

  /**
   * Returns the id that the error response echoes. Empty if the id is uncertain: the body is not
   * JSON or is a batch, or the id is missing, doubled or of a wrong type.
   */
  public Optional<RequestId> id() {
    return Optional.ofNullable(id);
  }
}
