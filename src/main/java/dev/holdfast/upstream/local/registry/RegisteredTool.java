package dev.holdfast.upstream.local.registry;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import dev.holdfast.upstream.local.json.ContentJson;
import dev.holdfast.upstream.local.json.Json;
import dev.holdfast.upstream.local.json.RecordCodec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A tool with its constant properties, which are read once. */
public final class RegisteredTool<A extends Record> {

  private final Tool<A> tool;
  private final String name;
  private final boolean cpuBound;
  private final RecordCodec<A> arguments;
  private final @Nullable RecordCodec<?> result;

  RegisteredTool(Tool<A> tool) {
    this.tool = tool;
    this.name = tool.name();
    this.cpuBound = tool.cpuBound();
    this.arguments = RecordCodec.of(tool.arguments());
    this.result = tool.result().<RecordCodec<?>>map(RecordCodec::of).orElse(null);
  }

  /** Returns the name of the tool. */
  public String name() {
    return name;
  }

  /** Returns whether calls compute for long. */
  public boolean cpuBound() {
    return cpuBound;
  }

  /** Returns the entry of the tool in {@code tools/list}. */
  ObjectNode describe() {
    ObjectNode description = Json.object();
    description.put("name", name).put("description", tool.description());
    description.set("inputSchema", arguments.schema());
    if (result != null) {
      description.set("outputSchema", result.schema());
    }
    return description;
  }

  /**
   * Calls the tool.
   *
   * @return the result of {@code tools/call}
   * @throws InvalidArgumentsException if the arguments do not fit the tool
   * @throws IllegalStateException if the result is not the record that the tool declares
   */
  public ObjectNode call(ObjectNode given, ToolCall call) throws Exception {
    ToolResult returned = tool.call(arguments.read(given), call);
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

  /** Returns the result of a call that failed. */
  public static ObjectNode error(String text) {
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
