package dev.holdfast.demo;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.time.Duration;

/** A slow call that reports every step, for trying dropped connections. */
@ApplicationScoped
public class CountdownTool implements Tool<CountdownTool.Arguments> {

  /** The number of steps and their length. */
  @RegisterForReflection
  public record Arguments(
      @JsonProperty(defaultValue = "10")
          @JsonPropertyDescription("How many steps to count down.")
          @Min(1)
          @Max(3600)
          int from,
      @JsonProperty(defaultValue = "1000")
          @JsonPropertyDescription("How long a step takes, in milliseconds.")
          @Min(10)
          @Max(60_000)
          int intervalMs) {}

  @Override
  public String name() {
    return "countdown";
  }

  @Override
  public String description() {
    return "Counts down to zero, reports its progress at every step, and lifts off.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolCall call) throws InterruptedException {
    int from = arguments.from();
    Duration interval = Duration.ofMillis(arguments.intervalMs());
    call.log(
        LogLevel.DEBUG, name(), "from " + from + ", a step takes " + interval.toMillis() + " ms");
    for (int step = 1; step <= from; step++) {
      Thread.sleep(interval);
      call.progress(step, (double) from, "T-" + (from - step));
    }
    return ToolResult.text("liftoff");
  }
}
