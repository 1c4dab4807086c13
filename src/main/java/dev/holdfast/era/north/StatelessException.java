package dev.holdfast.era.north;

import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import org.jspecify.annotations.Nullable;

/** A request that the revision does not allow. The message is shown to the client. */
final class StatelessException extends RuntimeException {

  private final int status;
  private final JsonRpcErrorCode code;
  private final @Nullable String data;

  /**
   * Creates a failure without a stack trace, since any client can cause it at will.
   *
   * @param status the HTTP status
   * @param data the data of the JSON-RPC error, raw; null for none
   */
  StatelessException(int status, JsonRpcErrorCode code, String message, @Nullable String data) {
    super(message, null, false, false);
    this.status = status;
    this.code = code;
    this.data = data;
  }

  static StatelessException invalidParams(int status, String message) {
    return new StatelessException(
        status, JsonRpcErrorCode.INVALID_PARAMS, "Invalid params: " + message, null);
  }

  static StatelessException unknownMethod(String method) {
    return new StatelessException(
        404, JsonRpcErrorCode.METHOD_NOT_FOUND, "Method not found: " + method, null);
  }

  static StatelessException mismatch(String message) {
    return new StatelessException(400, JsonRpcErrorCode.HEADER_MISMATCH, message, null);
  }

  /**
   * @param capabilities those that are missing, as a raw JSON object
   */
  static StatelessException missingCapability(String capabilities) {
    return new StatelessException(
        400,
        JsonRpcErrorCode.MISSING_CAPABILITY,
        "The client has not declared a capability that the server needs",
        "{\"requiredCapabilities\":" + capabilities + "}");
  }

  int status() {
    return status;
  }

  byte[] toError(@Nullable RequestId id) {
    String message = String.valueOf(getMessage());
    return data == null
        ? JsonRpcErrors.error(id, code, message)
        : JsonRpcErrors.error(id, code, message, data);
  }
}
