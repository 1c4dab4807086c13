package dev.holdfast.era.south;

import dev.holdfast.protocol.ArgumentPaths;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.Methods;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Responses of 2026-07-28 as clients of earlier revisions read them. */
final class Results {

  static final String OBJECT = "\"object\"";

  private static final String MISSING_CAPABILITY =
      String.valueOf(JsonRpcErrorCode.MISSING_CAPABILITY.code());

  /** Codes of 2026-07-28, about members that the gateway has added. */
  private static final Pattern UNKNOWN_TO_CLIENTS = Pattern.compile("-320[2-9]\\d");

  private Results() {}

  /** Returns {@code serverInfo} of a result, raw. */
  static String serverInfo(byte[] response) {
    String info = JsonEdit.raw(response, "result", "_meta", MetaKeys.SERVER_INFO);
    info = info == null ? JsonEdit.raw(response, "result", "serverInfo") : info;
    return info == null || !info.startsWith("{")
        ? "{\"name\":\"unknown\",\"version\":\"unknown\"}"
        : info;
  }

  /** Removes the members that strict clients refuse. */
  static JsonEdit strip(byte[] response, JsonEdit edit) {
    Set<String> meta = JsonEdit.members(JsonEdit.raw(response, "result", "_meta")).keySet();
    edit.remove("result", "resultType").remove("result", "ttlMs").remove("result", "cacheScope");
    return meta.equals(Set.of(MetaKeys.SERVER_INFO))
        ? edit.remove("result", "_meta")
        : edit.remove("result", "_meta", MetaKeys.SERVER_INFO);
  }

  /** Returns a response for the client that has sent the request. */
  static byte[] translate(Message.Response response, Message.Request request) {
    byte[] json = response.bytes();
    if (response.error()) {
      String code = JsonEdit.raw(json, "error", "code");
      // What the client has not declared is for its user, or for a client of the same revision.
      return code != null
              && (!code.equals(MISSING_CAPABILITY) || request.isInitialize())
              && UNKNOWN_TO_CLIENTS.matcher(code).matches()
          ? failure(request, "The server and the gateway do not understand each other")
          : new JsonEdit().set(request.id().json(), "id").apply(json);
    }
    String type = type(json);
    if (!type.equals("complete")) {
      return failure(request, "The server sent a result of unknown type");
    }
    JsonEdit edit = strip(json, new JsonEdit().set(request.id().json(), "id"));
    switch (request.method()) {
      case Methods.TOOLS_LIST -> tools(json, edit);
      case Methods.TOOLS_CALL -> {
        String structured = JsonEdit.raw(json, "result", "structuredContent");
        if (structured != null && !structured.startsWith("{")) {
          edit.set("{\"result\":" + structured + "}", "result", "structuredContent");
        }
      }
      default -> {}
    }
    return edit.apply(json);
  }

  /** Returns the type of a result. */
  static String type(byte[] response) {
    String raw = JsonEdit.raw(response, "result", "resultType");
    return raw == null ? "complete" : String.valueOf(JsonEdit.text(raw));
  }

  /** Leaves out tools that clients of 2026-07-28 over HTTP must leave out, too. */
  private static void tools(byte[] response, JsonEdit edit) {
    List<String> tools = JsonEdit.elements(JsonEdit.raw(response, "result", "tools"));
    List<String> translated =
        tools.stream()
            .filter(tool -> ArgumentPaths.of(JsonEdit.members(tool).get("inputSchema")).isPresent())
            .map(Results::tool)
            .toList();
    if (!translated.equals(tools)) {
      edit.set("[" + String.join(",", translated) + "]", "result", "tools");
    }
  }

  /**
   * Wraps the output of a tool that is no object. A schema that also allows others is left out: the
   * output alone does not tell if it must be wrapped.
   */
  private static String tool(String tool) {
    String schema = JsonEdit.members(tool).get("outputSchema");
    if (schema == null) {
      return tool;
    }
    Map<String, String> members = JsonEdit.members(schema);
    String type = members.get("type");
    if (OBJECT.equals(type)) {
      return tool;
    }
    JsonEdit edit = new JsonEdit();
    if (type == null || JsonEdit.text(type) == null) {
      edit.remove("outputSchema");
    } else {
      String definitions = members.get("$defs");
      edit.set(
          "{\"type\":\"object\",\"properties\":{\"result\":%s},\"required\":[\"result\"]%s}"
              .formatted(schema, definitions == null ? "" : ",\"$defs\":" + definitions),
          "outputSchema");
    }
    return edit.apply(tool);
  }

  /** Cancels a request where its stream does not tell the server that it is closed. */
  static void cancel(UpstreamSession server, byte[] request) {
    byte[] notification = JsonRpcMessages.cancelled(String.valueOf(JsonEdit.raw(request, "id")));
    Thread _ =
        Thread.startVirtualThread(() -> {
          try {
            server.send(Envelopes.read(notification));
          } catch (UpstreamException gone) {
            // Then it has nothing to cancel.
          }
        });
  }

  /** Returns the response to a request that failed: of a tool, one that the model can read. */
  static byte[] failure(Message.Request request, String text) {
    return request.method().equals(Methods.TOOLS_CALL)
        ? JsonRpcMessages.result(
            request.id(),
            "{\"content\":[{\"type\":\"text\",\"text\":%s}],\"isError\":true}"
                .formatted(JsonEdit.quote(text)))
        : JsonRpcErrors.error(request.id(), JsonRpcErrorCode.INTERNAL_ERROR, text);
  }
}
