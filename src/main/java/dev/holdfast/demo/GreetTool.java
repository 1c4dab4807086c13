package dev.holdfast.demo;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.upstream.local.ElicitationResult;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.validation.constraints.Size;
import java.time.Duration;

/** Elicits a name and greets it, for trying responses through any replica. */
@ApplicationScoped
public class GreetTool implements Tool<NoArguments> {

  private static final Duration ELICITATION_TIMEOUT = Duration.ofMinutes(5);

  /** Language of the greeting. */
  public enum Language {
    /** "Hello". */
    ENGLISH,
    /** "Hallo". */
    GERMAN
  }

  /** The form for the person. */
  @RegisterForReflection
  public record Form(
      @JsonPropertyDescription("Whom to greet.") @Size(min = 1, max = 100) String name,
      @JsonProperty(defaultValue = "ENGLISH") Language language) {}

  @Override
  public String name() {
    return "greet";
  }

  @Override
  public String description() {
    return "Asks for a name and greets it.";
  }

  @Override
  public Class<NoArguments> arguments() {
    return NoArguments.class;
  }

  @Override
  public ToolResult call(NoArguments arguments, ToolCall call) throws InterruptedException {
    return switch (call.client().elicit("Who is there?", Form.class, ELICITATION_TIMEOUT)) {
      case ElicitationResult.Accept<Form>(Form form) -> ToolResult.text(greeting(form));
      case ElicitationResult.Decline<Form> _ -> ToolResult.text("Hello, whoever you are!");
      case ElicitationResult.Cancel<Form> _ -> ToolResult.error("Nobody said whom to greet.");
    };
  }

  private static String greeting(Form form) {
    return switch (form.language()) {
      case ENGLISH -> "Hello, " + form.name() + "!";
      case GERMAN -> "Hallo, " + form.name() + "!";
    };
  }
}
