package dev.holdfast.merge;

import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import org.jspecify.annotations.Nullable;

/** The two tools of an endpoint with search: one finds the tools of servers, one calls them. */
final class SearchTools {

  static final String FIND = "find_tools";
  static final String CALL = "call_tool";

  static final String FIND_JSON =
      """
      {"name":"find_tools","title":"Find tools",\
      "description":"Finds tools for a task. Returns the best ones with name, description and input schema. \
      Call them with call_tool.",\
      "inputSchema":{"type":"object","properties":{\
      "query":{"type":"string","maxLength":1000,"description":"What the tool is to do: words that its name or description may have"},\
      "limit":{"type":"integer","minimum":1,"maximum":20,"default":5,"description":"The most tools to return"}},\
      "required":["query"]},\
      "annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}\
      """;

  static final String CALL_JSON =
      """
      {"name":"call_tool","title":"Call a tool",\
      "description":"Calls a tool that find_tools has returned.",\
      "inputSchema":{"type":"object","properties":{\
      "name":{"type":"string","description":"The name of the tool"},\
      "arguments":{"type":"object","description":"Arguments as the input schema of the tool says"}},\
      "required":["name"]},\
      "annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}}\
      """;

  private static final int MAX_QUERY = 1000;

  private SearchTools() {}

  static boolean has(String tool) {
    return tool.equals(FIND) || tool.equals(CALL);
  }

  /** Finds tools. */
  interface Search {
    /** Returns a raw JSON object with the best tools, at most {@code limit}. */
    String find(String query, int limit);
  }

  /**
   * Returns the result of a call of {@value #FIND}; wrong arguments are told as models see them.
   */
  static JsonEdit found(Message.Request call, Search search) {
    String query = JsonEdit.text(JsonEdit.raw(call.bytes(), "params", "arguments", "query"));
    String limit = JsonEdit.raw(call.bytes(), "params", "arguments", "limit");
    if (query == null || query.length() > MAX_QUERY) {
      return text("query must be a string of at most 1,000 characters").set("true", "isError");
    }
    if (limit != null && !limit.matches("[1-9]|1[0-9]|20")) {
      return text("limit must be a number from 1 to 20").set("true", "isError");
    }
    String found = search.find(query, limit == null ? 5 : Integer.parseInt(limit));
    return text(found).set(found, "structuredContent");
  }

  private static JsonEdit text(String text) {
    return new JsonEdit()
        .set("[{\"type\":\"text\",\"text\":" + JsonEdit.quote(text) + "}]", "content");
  }

  /** The name of the tool that a call means. */
  static @Nullable String nameIn(Message.Request call) {
    return CALL.equals(call.toolName())
        ? JsonEdit.text(JsonEdit.raw(call.bytes(), "params", "arguments", "name"))
        : call.toolName();
  }

  /** Returns the call of a tool that a call of {@value #CALL} means; other calls as they are. */
  static Message.Request direct(Message.Request call) {
    if (!CALL.equals(call.toolName())) {
      return call;
    }
    String name = nameIn(call);
    String arguments = JsonEdit.raw(call.bytes(), "params", "arguments", "arguments");
    JsonEdit edit = new JsonEdit().set(JsonEdit.quote(String.valueOf(name)), "params", "name");
    if (arguments == null) {
      edit.remove("params", "arguments");
    } else {
      edit.set(arguments, "params", "arguments");
    }
    return new Message.Request(
        call.id(),
        call.method(),
        name,
        call.progressToken(),
        call.version(),
        edit.apply(call.bytes()));
  }
}
