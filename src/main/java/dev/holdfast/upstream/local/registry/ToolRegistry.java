package dev.holdfast.upstream.local.registry;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.json.Json;
import dev.holdfast.upstream.local.json.RequestException;
import dev.holdfast.upstream.local.json.RequestParams;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The tools of a server by name. */
public final class ToolRegistry {

  /**
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names">MCP
   *     2025-11-25, Tools, Tool Names</a>
   */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,128}");

  private final SortedMap<String, RegisteredTool<?>> tools = new TreeMap<>();
  private final ObjectNode list = Json.object();

  /**
   * Registers tools.
   *
   * @throws IllegalArgumentException if a name is malformed or taken, or a record has no schema
   */
  public ToolRegistry(List<Tool<?>> tools) {
    for (Tool<?> tool : tools) {
      String name = tool.name();
      if (!NAME.matcher(name).matches()) {
        throw new IllegalArgumentException("Not a tool name: \"" + name + "\"");
      }
      if (this.tools.put(name, register(tool)) != null) {
        throw new IllegalArgumentException("Two tools have the name \"" + name + "\"");
      }
    }
    ArrayNode descriptions = list.putArray("tools");
    this.tools.values().forEach(tool -> descriptions.add(tool.describe()));
  }

  private static RegisteredTool<?> register(Tool<?> tool) {
    try {
      return new RegisteredTool<>(tool);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "There is no schema for the tool \"" + tool.name() + "\"", e);
    }
  }

  /** Returns a tool by its name. */
  public Optional<RegisteredTool<?>> find(String name) {
    return Optional.ofNullable(tools.get(name));
  }

  /**
   * Returns the result of {@code tools/list}: one page, sorted by name.
   *
   * @throws RequestException if the request has a cursor
   */
  public ObjectNode list(Message.Request request) {
    RequestParams.requireFirstPage(request);
    return list;
  }
}
