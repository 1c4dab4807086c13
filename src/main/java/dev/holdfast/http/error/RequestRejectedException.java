package dev.holdfast.http.error;

import dev.holdfast.protocol.JsonRpcErrorCode;
import org.jspecify.annotations.Nullable;

/**
 * A request that the gateway refuses before it reaches the relay: for its form, or because a limit
 * is reached. The message is shown to the client.
 */
public final class RequestRejectedException extends RuntimeException {

  private final int status;
  private final JsonRpcErrorCode code;
  private final @Nullable String challenge;

  /**
   * Creates a rejection. It has no stack trace, since any client can cause it at will.
   *
   * @param status the HTTP status
   * @param code the code of the JSON-RPC error
   * @param message the text of the JSON-RPC error
   * @param challenge the value of {@code WWW-Authenticate} (RFC 9110, section 11.6.1); null for
   *     none
   */
  public RequestRejectedException(
      int status, JsonRpcErrorCode code, String message, @Nullable String challenge) {
    super(message, null, false, false);
    this.status = status;
    this.code = code;
    this.challenge = challenge;
  }

  /** Creates a rejection without a challenge. */
  public RequestRejectedException(int status, JsonRpcErrorCode code, String message) {
    this(status, code, message, null);
  }

  /** Creates a rejection with {@link JsonRpcErrorCode#SERVER_ERROR}. */
  public RequestRejectedException(int status, String message) {
    this(status, JsonRpcErrorCode.SERVER_ERROR, message);
  }

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }

  /** Returns the code of the JSON-RPC error. */
  public JsonRpcErrorCode code() {
    return code;
  }

  /** Returns the challenge; null for none. */
  @Nullable String challenge() {
    return challenge;
  }
}
