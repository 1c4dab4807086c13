package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The tools of a server by name. */
final class ToolRegistry {

  private static final Logger LOG = Logger.getLogger(ToolRegistry.class);

  /** MCP 2025-11-25, Tools, Tool Names. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,128}");

  private final SortedMap<String, RegisteredTool<?>> tools = new TreeMap<>();
  private final ObjectNode list = Json.object();

  /**
   * Throws {@link IllegalArgumentException} if a name is malformed or taken, or a record has no
   * schema.
   */
  ToolRegistry(List<Tool<?>> tools) {
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

  /** Returns the tool that a call names. */
  Callee find(Message.Request call) {
    String name = call.toolName();
    if (name == null) {
      throw RequestException.invalidParams("name must be a string");
    }
    RegisteredTool<?> tool = tools.get(name);
    if (tool == null) {
      throw new RequestException(JsonRpcErrorCode.INVALID_PARAMS, "Unknown tool: " + name);
    }
    return tool;
  }

  /** Returns the result of {@code tools/list}: one page, sorted by name. */
  ObjectNode list(Message.Request request) {
    return Json.onlyPage(request, list);
  }

  /** A tool with its constant properties, which are read once. */
  record RegisteredTool<A extends Record>(
      Tool<A> tool,
      String name,
      boolean cpuBound,
      RecordCodec<A> arguments,
      @Nullable RecordCodec<?> result)
      implements Callee {

    RegisteredTool(Tool<A> tool) {
      this(
          tool,
          tool.name(),
          tool.cpuBound(),
          RecordCodec.of(tool.arguments()),
          tool.result().<RecordCodec<?>>map(RecordCodec::of).orElse(null));
    }

    ObjectNode describe() {
      ObjectNode description = Json.object();
      description.put("name", name);
      tool.title().ifPresent(title -> description.put("title", title));
      description.put("description", tool.description());
      description.set("inputSchema", arguments.schema());
      if (result != null) {
        description.set("outputSchema", result.schema());
      }
      ObjectNode annotations = annotations();
      if (!annotations.isEmpty()) {
        description.set("annotations", annotations);
      }
      return description;
    }

    /** The hints that differ from the defaults of MCP 2025-11-25, Schema, ToolAnnotations. */
    private ObjectNode annotations() {
      ObjectNode annotations = Json.object();
      if (tool.readOnlyHint()) {
        annotations.put("readOnlyHint", true);
      }
      if (!tool.destructiveHint()) {
        annotations.put("destructiveHint", false);
      }
      if (tool.idempotentHint()) {
        annotations.put("idempotentHint", true);
      }
      if (!tool.openWorldHint()) {
        annotations.put("openWorldHint", false);
      }
      return annotations;
    }

    /**
     * Calls the tool. Throws {@link IllegalStateException} if the result is not the record that it
     * declares.
     */
    @Override
    public ObjectNode call(ObjectNode given, ToolCall call) throws Exception {
      ToolResult returned;
      try {
        returned = tool.call(arguments.read(given), call);
      } catch (InvalidArgumentsException e) {
        // A result instead of a protocol error, so that the model can read it.
        return failure("Invalid arguments: " + e.getMessage());
      }
      boolean declared = result != null && !returned.failed();
      ObjectNode structured =
          declared || returned.structured() != null ? structured(returned.structured()) : null;
      // Clients older than 2025-06-18 read structured content as text.
      return structured == null || !returned.content().isEmpty()
          ? json(returned.content(), structured, returned.failed())
          : json(
              List.of(new ContentBlock.Text(structured.toString())), structured, returned.failed());
    }

    private ObjectNode structured(@Nullable Record value) {
      if (result == null) {
        throw new IllegalStateException("The tool returns a record but declares none");
      }
      try {
        return result.write(value);
      } catch (IllegalArgumentException e) {
        throw new IllegalStateException("The result does not fit its schema: " + e.getMessage(), e);
      }
    }

    @Override
    public ObjectNode failure(Throwable unexpected) {
      LOG.errorf(unexpected, "a tool failed tool=%s", name);
      return failure("The tool failed.");
    }

    @Override
    public ObjectNode failure(String text) {
      return json(List.of(new ContentBlock.Text(text)), null, true);
    }

    private static ObjectNode json(
        List<ContentBlock> content, @Nullable ObjectNode structured, boolean failed) {
      ObjectNode json = Json.object();
      ArrayNode blocks = json.putArray("content");
      content.forEach(block -> blocks.add(ContentJson.write(block)));
      if (structured != null) {
        json.set("structuredContent", structured);
      }
      if (failed) {
        json.put("isError", true);
      }
      return json;
    }
  }
}
