package dev.holdfast.protocol;

/**
 * The error codes of the gateway itself. Those of an upstream pass through unchanged.
 *
 * @see <a href="https://www.jsonrpc.org/specification#error_object">JSON-RPC 2.0, section 5.1</a>
 */
public enum JsonRpcErrorCode {
  /** The body is not one JSON value in UTF-8. */
  PARSE_ERROR(-32700, "Parse error"),
  /** The body is JSON, but not a JSON-RPC message. */
  INVALID_REQUEST(-32600, "Invalid Request"),
  /** The method does not exist. */
  METHOD_NOT_FOUND(-32601, "Method not found"),
  /** The method exists, but its parameters are wrong. */
  INVALID_PARAMS(-32602, "Invalid params"),
  /** The gateway failed. */
  INTERNAL_ERROR(-32603, "Internal error"),
  /** A header is missing, malformed or unlike the body (2026-07-28, Transports). */
  HEADER_MISMATCH(-32020, "Header mismatch"),
  /** The server needs what the client has not declared (2026-07-28). */
  MISSING_CAPABILITY(-32021, "Missing required client capability"),
  /** The revision is not supported (2026-07-28). */
  UNSUPPORTED_VERSION(-32022, "Unsupported protocol version"),
  /** An operator cancelled the request; the number is that of the Language Server Protocol. */
  CANCELLED(-32800, "Request cancelled"),
  /** Any other failure; the official SDKs use this code, too. */
  SERVER_ERROR(-32000, "Server error"),
  /** No such session; not in the specification, but the official SDKs use it. */
  SESSION_NOT_FOUND(-32001, "Session not found");

  private final int code;
  private final String message;

  JsonRpcErrorCode(int code, String message) {
    this.code = code;
    this.message = message;
  }

  /** Returns the number on the wire. */
  public int code() {
    return code;
  }

  /** Returns the default message, which reveals nothing about the gateway. */
  public String message() {
    return message;
  }
}
