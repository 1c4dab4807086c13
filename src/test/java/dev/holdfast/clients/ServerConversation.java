package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.testing.McpClient;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Asks a server for all that it lists, and calls its tools.
 *
 * @param responses all responses in their order, each under what was asked for
 */
record ServerConversation(Map<String, JsonNode> responses) {

  /** A list, and the capability of a server that has it. */
  private record Listing(String method, String capability) {}

  private static final List<Listing> LISTINGS =
      List.of(
          new Listing("tools/list", "tools"),
          new Listing("prompts/list", "prompts"),
          new Listing("resources/list", "resources"),
          new Listing("resources/templates/list", "resources"));

  /** Ends the session when all is answered. */
  static ServerConversation hold(ServerSession session, List<RealServer.Call> calls) {
    Map<String, JsonNode> responses = new LinkedHashMap<>();
    try (session) {
      JsonNode initialized = session.ask("initialize", initialize());
      responses.put("initialize", initialized);
      session.tell("notifications/initialized");
      for (Listing listing : LISTINGS) {
        if (initialized.at("/result/capabilities").has(listing.capability())) {
          responses.putAll(pages(session, listing.method()));
        }
      }
      for (RealServer.Call call : calls) {
        responses.put("%s %s".formatted(call.tool(), call.arguments()), call(session, call));
      }
    }
    return new ServerConversation(responses);
  }

  private static String initialize() {
    return """
    {"protocolVersion":"%s","capabilities":{"elicitation":{}},\
    "clientInfo":{"name":"test","version":"1"}}\
    """
        .formatted(McpClient.NEWEST);
  }

  private static Map<String, JsonNode> pages(ServerSession session, String method) {
    Map<String, JsonNode> pages = new LinkedHashMap<>();
    String parameters = "{}";
    while (true) {
      JsonNode page = session.ask(method, parameters);
      pages.put(method + " " + parameters, page);
      JsonNode cursor = page.at("/result/nextCursor");
      if (!cursor.isTextual()) {
        return pages;
      }
      parameters = "{\"cursor\":%s}".formatted(cursor);
    }
  }

  private static JsonNode call(ServerSession session, RealServer.Call call) {
    String parameters =
        "{\"name\":\"%s\",\"arguments\":%s}".formatted(call.tool(), call.arguments());
    JsonNode response = session.ask("tools/call", parameters);
    call.ignored().keySet().forEach(pointer -> remove(pointer, response));
    return response;
  }

  private static void remove(String pointer, JsonNode response) {
    JsonPointer path = JsonPointer.compile(pointer);
    ObjectNode parent = (ObjectNode) response.at(path.head());
    JsonNode removed = parent.remove(path.last().getMatchingProperty());
    assertThat(removed).as(pointer).isNotNull();
  }

  /** The number of tools on all pages. */
  int tools() {
    return responses.entrySet().stream()
        .filter(response -> response.getKey().startsWith("tools/list "))
        .mapToInt(response -> response.getValue().at("/result/tools").size())
        .sum();
  }

  /** Each place where the responses differ, also in the order of members. */
  List<String> differencesFrom(ServerConversation other) {
    List<String> differences = new ArrayList<>();
    Set<String> asked = new TreeSet<>(responses.keySet());
    asked.addAll(other.responses.keySet());
    for (String each : asked) {
      JsonDifferences.find(each + ": ", responses.get(each), other.responses.get(each))
          .forEach(differences::add);
    }
    return differences;
  }
}
