package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Writes the requests, notifications and results of the gateway itself. */
public final class JsonRpcMessages {

  /** The notification of a client that has accepted the response to {@code initialize}. */
  public static final Body INITIALIZED =
      Envelopes.read(of(Methods.NOTIFICATIONS_INITIALIZED).toBytes());

  private JsonRpcMessages() {}

  /** Begins a request or a notification. */
  public static JsonEdit of(String method) {
    return new JsonEdit().set("\"2.0\"", "jsonrpc").set(JsonEdit.quote(method), "method");
  }

  /**
   * Returns the notification that cancels a request.
   *
   * @param id raw id of the request
   */
  public static byte[] cancelled(String id) {
    return of(Methods.NOTIFICATIONS_CANCELLED).set(id, "params", "requestId").toBytes();
  }

  /**
   * Returns a response with a result.
   *
   * @param result raw JSON on one line
   */
  public static byte[] result(RequestId id, String result) {
    return ("{\"jsonrpc\":\"2.0\",\"id\":" + id.json() + ",\"result\":" + result + "}")
        .getBytes(UTF_8);
  }
}
