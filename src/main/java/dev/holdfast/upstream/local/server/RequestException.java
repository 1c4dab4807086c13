package dev.holdfast.upstream.local.server;

import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.RequestId;
import java.util.Map;

/** A request that ends with a JSON-RPC error. It has no stack trace: any client can cause it. */
final class RequestException extends RuntimeException {

  private final int code;
  private final String text;
  private final Map<String, String> data;

  RequestException(int code, String text, Map<String, String> data) {
    super(text, null, false, false);
    this.code = code;
    this.text = text;
    this.data = Map.copyOf(data);
  }

  RequestException(JsonRpcErrorCode code) {
    this(code, code.message());
  }

  RequestException(JsonRpcErrorCode code, String text) {
    this(code.code(), text, Map.of());
  }

  static RequestException invalidParams(String problem) {
    return new RequestException(JsonRpcErrorCode.INVALID_PARAMS, "Invalid params: " + problem);
  }

  byte[] response(RequestId id) {
    return JsonRpcErrors.error(id, code, text, data);
  }
}
