package dev.holdfast.demo;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.enterprise.context.ApplicationScoped;

/** Returns its argument. */
@ApplicationScoped
public class EchoTool implements Tool<EchoTool.Arguments> {

  /** The message. */
  @RegisterForReflection
  public record Arguments(@JsonPropertyDescription("What to return.") String message) {}

  @Override
  public String name() {
    return "echo";
  }

  @Override
  public String description() {
    return "Returns the message it is given.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolCall call) {
    return ToolResult.text(arguments.message());
  }
}
