package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;

/** Reads the parameters of requests. */
final class RequestParams {

  private RequestParams() {}

  /** Reads {@code params}; an empty object if the request has none. */
  static ObjectNode of(Message.Request request) {
    return object(
        Json.read(request.bytes())
            .orElseThrow(() -> RequestException.invalidParams("they cannot be read")),
        "params");
  }

  /** Returns an object member; an empty object if it is missing or null. */
  static ObjectNode object(JsonNode parent, String name) {
    JsonNode child = parent.path(name);
    return switch (child) {
      case ObjectNode object -> object;
      case JsonNode none when none.isMissingNode() || none.isNull() -> Json.object();
      default -> throw RequestException.invalidParams(name + " must be an object");
    };
  }

  /** Checks that a list request asks for the first page, as lists have only one. */
  static void requireFirstPage(Message.Request request) {
    if (of(request).hasNonNull("cursor")) {
      throw RequestException.invalidParams("there is only one page, so no cursor is valid");
    }
  }
}
