package dev.holdfast.upstream.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/** A tool with all that was asked of it once, so that a call asks nothing again. */
final class BoundTool<A extends Record> {

  private final Tool<A> tool;
  private final String name;
  private final boolean cpuBound;
  private final RecordType<A> arguments;
  private final @Nullable RecordType<?> result;

  private BoundTool(Tool<A> tool) {
    this.tool = tool;
    this.name = tool.name();
    this.cpuBound = tool.cpuBound();
    this.arguments = RecordType.of(tool.arguments());
    this.result = tool.result().<RecordType<?>>map(RecordType::of).orElse(null);
  }

  static <A extends Record> BoundTool<A> of(Tool<A> tool) {
    return new BoundTool<>(tool);
  }

  String name() {
    return name;
  }

  boolean cpuBound() {
    return cpuBound;
  }

  /** As {@code tools/list} tells it. */
  ObjectNode describe() {
    ObjectNode description = Messages.newObject();
    description.put("name", name);
    description.put("description", tool.description());
    description.set("inputSchema", arguments.schema());
    if (result != null) {
      description.set("outputSchema", result.schema());
    }
    return description;
  }

  /**
   * Does the work.
   *
   * @throws InvalidArgumentsException if the arguments are not what the tool takes
   * @throws IllegalStateException if the result is not what the tool promised
   */
  Outcome call(ObjectNode given, ToolCall call) throws Exception {
    ToolResult came = tool.call(arguments.read(given), call);
    boolean promised = result != null && !came.failed();
    return new Outcome(
        came.content(),
        promised || came.structured() != null ? tree(came.structured()) : null,
        came.failed());
  }

  private ObjectNode tree(@Nullable Record structured) {
    if (result == null || !result.type().isInstance(structured)) {
      throw new IllegalStateException("The result is not the record that was promised");
    }
    try {
      return result.write(structured);
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException("The result does not fit its schema: " + e.getMessage(), e);
    }
  }
}
