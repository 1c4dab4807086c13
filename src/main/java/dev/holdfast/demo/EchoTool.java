package dev.holdfast.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import jakarta.enterprise.context.ApplicationScoped;

/** Says what it is told. */
@ApplicationScoped
public class EchoTool implements Tool {

  @Override
  public String name() {
    return "echo";
  }

  @Override
  public String description() {
    return "Returns the message it is given.";
  }

  @Override
  public String inputSchema() {
    return """
    {
      "type": "object",
      "properties": {
        "message": {"type": "string", "description": "What to return."}
      },
      "required": ["message"]
    }
    """;
  }

  @Override
  public ToolResult call(ToolCall call) {
    JsonNode message = call.arguments().path("message");
    if (!message.isTextual()) {
      throw new InvalidArgumentsException("message must be a string");
    }
    return ToolResult.text(message.textValue());
  }
}
