package dev.holdfast.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;

/**
 * What makes two requests the same: the method and its parameters. The id differs, and so does
 * {@code params._meta} with its progress token. Those of {@code initialize} do not count: any
 * client may open a session.
 */
record RequestKey(String method, JsonNode params) {

  static RequestKey of(Message.Request request) {
    JsonNode params = MissingNode.getInstance();
    if (!request.isInitialize()) {
      params = TapeJson.tree(request.bytes()).path("params");
      if (params instanceof ObjectNode object) {
        object.remove("_meta");
        if (object.isEmpty()) {
          params = MissingNode.getInstance();
        }
      }
    }
    return new RequestKey(request.method(), params);
  }
}
