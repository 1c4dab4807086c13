package dev.holdfast.upstream.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.RequestId;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The tools by name, and their list as it goes over the wire. */
final class ToolRegistry {

  /**
   * What a name should look like.
   *
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names">MCP
   *     2025-11-25, Tools, Tool Names</a>
   */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,128}");

  private final SortedMap<String, BoundTool<?>> tools = new TreeMap<>();
  private final List<ObjectNode> descriptions;

  /**
   * @throws IllegalArgumentException if a name is malformed or taken, or no schema can be made of a
   *     record
   */
  ToolRegistry(Iterable<? extends Tool<?>> tools) {
    for (Tool<?> tool : tools) {
      String name = tool.name();
      if (!NAME.matcher(name).matches()) {
        throw new IllegalArgumentException("Not a tool name: \"" + name + "\"");
      }
      if (this.tools.put(name, bind(tool)) != null) {
        throw new IllegalArgumentException("Two tools have the name \"" + name + "\"");
      }
    }
    descriptions = this.tools.values().stream().map(BoundTool::describe).toList();
  }

  private static BoundTool<?> bind(Tool<?> tool) {
    try {
      return BoundTool.of(tool);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "There is no schema for the tool \"" + tool.name() + "\"", e);
    }
  }

  Optional<BoundTool<?>> find(String name) {
    return Optional.ofNullable(tools.get(name));
  }

  /** The response to {@code tools/list}: all tools on one page, sorted by name. */
  byte[] list(RequestId id) {
    return Messages.page(id, "tools", descriptions);
  }
}
