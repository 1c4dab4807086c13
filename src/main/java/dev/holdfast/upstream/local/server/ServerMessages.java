package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.local.LogLevel;
import org.jspecify.annotations.Nullable;

/** The JSON-RPC messages of a local server, each on one line. */
public final class ServerMessages {

  private static final double MAX_EXACT_INTEGER = 1L << 53;

  private ServerMessages() {}

  static byte[] result(RequestId id, ObjectNode result) {
    ObjectNode message = message();
    message.putRawValue("id", new RawValue(id.json()));
    message.set("result", result);
    return Json.write(message);
  }

  /** The response with a result, or the error in place of one that is larger than the limit. */
  static UpstreamMessage result(RequestId id, ObjectNode result, int maxBytes) {
    byte[] message = result(id, result);
    return message.length <= maxBytes
        ? new UpstreamMessage(message, null)
        : UpstreamMessage.tooLarge(
            id, new UpstreamException.TooLarge(message.length, true, maxBytes), null);
  }

  static byte[] request(RequestId id, String method, ObjectNode params) {
    ObjectNode message = message();
    message.putRawValue("id", new RawValue(id.json()));
    message.put("method", method).set("params", params);
    return Json.write(message);
  }

  static byte[] cancelled(RequestId id) {
    ObjectNode params = Json.object();
    params.putRawValue("requestId", new RawValue(id.json()));
    return notification(Methods.NOTIFICATIONS_CANCELLED, params);
  }

  /** The token is raw JSON, which keeps its type. */
  static byte[] progress(
      String token, double progress, @Nullable Double total, @Nullable String message) {
    ObjectNode params = Json.object();
    params.putRawValue("progressToken", new RawValue(token));
    putNumber(params, "progress", progress);
    if (total != null) {
      putNumber(params, "total", total);
    }
    if (message != null) {
      params.put("message", message);
    }
    return notification(Methods.NOTIFICATIONS_PROGRESS, params);
  }

  /** Writes 3 and not 3.0: some clients show numbers verbatim. */
  private static void putNumber(ObjectNode json, String name, double value) {
    if (value == Math.rint(value) && Math.abs(value) <= MAX_EXACT_INTEGER) {
      json.put(name, (long) value);
    } else {
      json.put(name, value);
    }
  }

  /** A log message. */
  public static byte[] log(LogLevel level, String logger, JsonNode data) {
    return notification(
        Methods.NOTIFICATIONS_MESSAGE,
        Json.object().put("level", level.wire()).put("logger", logger).set("data", data));
  }

  private static byte[] notification(String method, ObjectNode params) {
    ObjectNode message = message();
    message.put("method", method).set("params", params);
    return Json.write(message);
  }

  private static ObjectNode message() {
    return Json.object().put("jsonrpc", "2.0");
  }
}
