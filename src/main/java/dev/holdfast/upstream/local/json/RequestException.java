package dev.holdfast.upstream.local.json;

import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import java.util.Map;

/** A request that ends with a JSON-RPC error. It has no stack trace: any client can cause it. */
public final class RequestException extends RuntimeException {

  private final int code;
  private final String text;
  private final Map<String, String> data;

  /**
   * An error with a code of its own.
   *
   * @param data members of the error's data
   */
  public RequestException(int code, String text, Map<String, String> data) {
    super(text, null, false, false);
    this.code = code;
    this.text = text;
    this.data = Map.copyOf(data);
  }

  /** An error with the default text of its code. */
  public RequestException(JsonRpcErrorCode code) {
    this(code.code(), code.message(), Map.of());
  }

  /** The parameters do not fit the method. */
  public static RequestException invalidParams(String problem) {
    return new RequestException(
        JsonRpcErrorCode.INVALID_PARAMS.code(), "Invalid params: " + problem, Map.of());
  }

  /** Returns the error response to a request. */
  public byte[] response(RequestId id) {
    return JsonRpcErrors.error(id, code, text, data);
  }
}
