package dev.holdfast.demo;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.PromptMessage;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;

/** Makes a model start a long call. */
@ApplicationScoped
public class CutPrompt implements Prompt<CutPrompt.Arguments> {

  /** The event at zero. */
  @RegisterForReflection
  public record Arguments(
      @JsonProperty(defaultValue = "liftoff") @JsonPropertyDescription("What comes at zero.")
          String event) {}

  @Override
  public String name() {
    return "cut";
  }

  @Override
  public String description() {
    return "Has a model start a call that takes long enough to cut it off.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public List<PromptMessage> get(Arguments arguments) {
    return List.of(
        PromptMessage.user(
            "Call countdown with 30 steps, and tell me of the " + arguments.event() + "."));
  }
}
