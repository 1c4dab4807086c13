package dev.holdfast.http;

import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.RequestId;
import org.jspecify.annotations.Nullable;

/** A request that is refused for its form. */
final class Rejection extends RuntimeException {
  private final int status;
  private final JsonRpcErrorCode code;
  private final transient @Nullable RequestId id;

  /**
   * Refuses.
   *
   * @param status the HTTP status
   * @param message what the client reads
   */
  Rejection(int status, JsonRpcErrorCode code, String message) {
    this(status, code, message, null);
  }

  /** Refuses a request whose id is known. */
  Rejection(int status, JsonRpcErrorCode code, String message, @Nullable RequestId id) {
    super(message, null, false, false);
    this.status = status;
    this.code = code;
    this.id = id;
  }

  int status() {
    return status;
  }

  JsonRpcErrorCode code() {
    return code;
  }

  @Nullable RequestId id() {
    return id;
  }
}
