package dev.holdfast.demo;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.upstream.local.Client;
import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Size;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Tools, a resource and a prompt for trying a gateway without an upstream. */
public final class Demo {

  /** The tools. */
  public static final List<Tool<?>> TOOLS =
      List.of(new EchoTool(), new CountdownTool(), new PrimesTool(), new GreetTool());

  /** The resources. */
  public static final List<Resource> RESOURCES = List.of(new AboutResource());

  /** The prompts. */
  public static final List<Prompt<?>> PROMPTS = List.of(new CutPrompt());

  private Demo() {}

  /** The properties that all demo tools have. */
  abstract static class DemoTool<A extends Record> implements Tool<A> {
    private final String name;
    private final String description;
    private final Class<A> arguments;

    DemoTool(String name, String description, Class<A> arguments) {
      this.name = name;
      this.description = description;
      this.arguments = arguments;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public String description() {
      return description;
    }

    @Override
    public Class<A> arguments() {
      return arguments;
    }

    @Override
    public boolean readOnlyHint() {
      return true;
    }

    @Override
    public boolean openWorldHint() {
      return false;
    }
  }

  /** Returns its argument. */
  static final class EchoTool extends DemoTool<EchoTool.Text> {

    @RegisterForReflection
    public record Text(@JsonPropertyDescription("What to return.") String message) {}

    EchoTool() {
      super("echo", "Returns the message it is given.", Text.class);
    }

    @Override
    public ToolResult call(Text arguments, ToolCall call) {
      return ToolResult.text(arguments.message());
    }
  }

  /** A slow call that reports every step, for trying dropped connections. */
  static final class CountdownTool extends DemoTool<CountdownTool.Steps> {

    @RegisterForReflection
    public record Steps(
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

    CountdownTool() {
      super(
          "countdown",
          "Counts down to zero, reports its progress at every step, and lifts off.",
          Steps.class);
    }

    @Override
    public ToolResult call(Steps arguments, ToolCall call) throws InterruptedException {
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

  /** Keeps a processor busy, for trying whether other calls wait. */
  static final class PrimesTool extends DemoTool<PrimesTool.Range> {

    private static final int STEPS = 100;

    @RegisterForReflection
    public record Range(
        @JsonPropertyDescription("The largest number to look at.") @Min(1) @Max(1_000_000_000)
            int upTo) {}

    @RegisterForReflection
    public record Primes(
        @JsonPropertyDescription("How many primes there are.") int count,
        @JsonPropertyDescription("The largest of them; 0 if there is none.") int largest) {}

    PrimesTool() {
      super("primes", "Counts the primes up to a number, by trying all divisors.", Range.class);
    }

    @Override
    public Optional<Class<? extends Record>> result() {
      return Optional.of(Primes.class);
    }

    @Override
    public boolean cpuBound() {
      return true;
    }

    @Override
    public ToolResult call(Range arguments, ToolCall call) {
      int count = 0;
      int largest = 0;
      int stride = Math.max(1, arguments.upTo() / STEPS);
      for (int number = 1; number <= arguments.upTo(); number++) {
        call.checkCancelled();
        if (isPrime(number)) {
          count++;
          largest = number;
        }
        if (number % stride == 0) {
          call.progress(number, (double) arguments.upTo(), null);
        }
      }
      return ToolResult.of(new Primes(count, largest));
    }

    private static boolean isPrime(int number) {
      for (int divisor = 2; (long) divisor * divisor <= number; divisor++) {
        if (number % divisor == 0) {
          return false;
        }
      }
      return number > 1;
    }
  }

  /** Elicits a name and greets it, for trying responses through any replica. */
  static final class GreetTool extends DemoTool<NoArguments> {

    private static final Duration ELICITATION_TIMEOUT = Duration.ofMinutes(5);

    public enum Language {
      ENGLISH,
      GERMAN
    }

    @RegisterForReflection
    public record Form(
        @JsonPropertyDescription("The name to greet.") @Size(min = 1, max = 100) String name,
        @JsonProperty(defaultValue = "ENGLISH") Language language) {}

    GreetTool() {
      super("greet", "Asks for a name and greets it.", NoArguments.class);
    }

    @Override
    public ToolResult call(NoArguments arguments, ToolCall call) throws InterruptedException {
      return switch (call.client().elicit("Who is there?", Form.class, ELICITATION_TIMEOUT)) {
        case Client.ElicitationResult.Accept<Form>(Form form) -> ToolResult.text(greeting(form));
        case Client.ElicitationResult.Decline<Form> _ -> ToolResult.text("Hello!");
        case Client.ElicitationResult.Cancel<Form> _ -> ToolResult.error("No name was given.");
      };
    }

    private static String greeting(Form form) {
      return (form.language() == Language.ENGLISH ? "Hello, " : "Hallo, ") + form.name() + "!";
    }
  }

  /** A text about the demo server. */
  static final class AboutResource implements Resource {

    private static final String TYPE = "text/plain";

    @Override
    public String uri() {
      return "holdfast://about";
    }

    @Override
    public String name() {
      return "about";
    }

    @Override
    public String description() {
      return "What this server is.";
    }

    @Override
    public String mimeType() {
      return TYPE;
    }

    @Override
    public ContentBlock.TextResource read() {
      return new ContentBlock.TextResource(
          uri(), TYPE, "A gateway without a server behind it, and a few tools to try it with.");
    }
  }

  /** Makes a model start a long call. */
  static final class CutPrompt implements Prompt<CutPrompt.Launch> {

    @RegisterForReflection
    public record Launch(
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
    public Class<Launch> arguments() {
      return Launch.class;
    }

    @Override
    public List<Prompt.PromptMessage> get(Launch arguments) {
      return List.of(
          Prompt.PromptMessage.user(
              "Call countdown with 30 steps, and tell me of the " + arguments.event() + "."));
    }
  }
}
