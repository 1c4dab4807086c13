package com.example.tools;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import java.time.Duration;
import java.util.Optional;

/** Writes a report, one chapter after the other. */
@ApplicationScoped
public class ReportTool implements Tool<ReportTool.Order> {

  private static final Duration CHAPTER = Duration.ofSeconds(1);

  /** What a call says. Holdfast makes the schema of the arguments from this record. */
  @RegisterForReflection
  public record Order(
      @JsonPropertyDescription("What the report is about.") @NotBlank String topic,
      @JsonProperty(defaultValue = "5") @Min(1) @Max(600) int chapters) {}

  @Override
  public String name() {
    return "report";
  }

  @Override
  public Optional<String> title() {
    return Optional.of("Write a report");
  }

  @Override
  public String description() {
    return "Writes a report about a topic. A chapter takes a second.";
  }

  @Override
  public boolean readOnlyHint() {
    return true;
  }

  @Override
  public Class<Order> arguments() {
    return Order.class;
  }

  @Override
  public ToolResult call(Order order, ToolCall call) throws InterruptedException {
    for (int chapter = 1; chapter <= order.chapters(); chapter++) {
      Thread.sleep(CHAPTER);
      call.progress(chapter, (double) order.chapters(), "chapter " + chapter);
    }
    return ToolResult.text(order.chapters() + " chapters about " + order.topic());
  }
}
