package dev.holdfast.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;

/** Takes its time and reports every step: a call to break connections on. */
@ApplicationScoped
public class CountdownTool implements Tool {

  @Override
  public String name() {
    return "countdown";
  }

  @Override
  public String description() {
    return "Counts down to zero, reports its progress at every step, and lifts off.";
  }

  @Override
  public String inputSchema() {
    return """
    {
      "type": "object",
      "properties": {
        "from": {
          "type": "integer", "minimum": 1, "maximum": 3600, "default": 10,
          "description": "How many steps to count down."
        },
        "intervalMs": {
          "type": "integer", "minimum": 10, "maximum": 60000, "default": 1000,
          "description": "How long a step takes, in milliseconds."
        }
      }
    }
    """;
  }

  @Override
  public ToolResult call(ToolCall call) throws InterruptedException {
    int from = integer(call, "from", 1, 3600, 10);
    Duration interval = Duration.ofMillis(integer(call, "intervalMs", 10, 60_000, 1000));
    for (int step = 1; step <= from; step++) {
      Thread.sleep(interval);
      call.progress(step, (double) from, "T-" + (from - step));
    }
    return ToolResult.text("liftoff");
  }

  /** JSON Schema calls 10.0 an integer, too. */
  private static int integer(ToolCall call, String name, int min, int max, int absent) {
    JsonNode value = call.arguments().path(name);
    if (value.isMissingNode()) {
      return absent;
    }
    if (!value.canConvertToExactIntegral()
        || value.doubleValue() < min
        || value.doubleValue() > max) {
      throw new InvalidArgumentsException(
          "%s must be an integer from %d to %d".formatted(name, min, max));
    }
    return value.intValue();
  }
}
