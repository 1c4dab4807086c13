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

  private static final String PLAIN_TEXT = "text/plain";
  private static final Duration ELICITATION_TIMEOUT = Duration.ofMinutes(5);

  /** Progress notifications of a count of primes. */
  private static final int STEPS = 100;

  /** The tools. */
  public static final List<Tool<?>> TOOLS =
      List.of(
          new DemoTool<>(
              "echo",
              "Returns the message it is given.",
              Text.class,
              Optional.empty(),
              false,
              (given, _) -> ToolResult.text(given.message())),
          // A slow call that reports every step, for trying dropped connections.
          new DemoTool<>(
              "countdown",
              "Counts down to zero, reports its progress at every step, and lifts off.",
              Steps.class,
              Optional.empty(),
              false,
              Demo::countDown),
          // Keeps a processor busy, for trying whether other calls wait.
          new DemoTool<>(
              "primes",
              "Counts the primes up to a number, by trying all divisors.",
              Range.class,
              Optional.of(Primes.class),
              true,
              Demo::countPrimes),
          // Elicits a name, for trying responses through any replica.
          new DemoTool<>(
              "greet",
              "Asks for a name and greets it.",
              NoArguments.class,
              Optional.empty(),
              false,
              (_, call) -> greet(call)));

  /** The resources. */
  public static final List<Resource> RESOURCES =
      List.of(new AboutResource("holdfast://about", "about", "What this server is.", PLAIN_TEXT));

  /** The prompts. */
  public static final List<Prompt<?>> PROMPTS =
      List.of(
          new CutPrompt(
              "cut",
              "Has a model start a call that takes long enough to cut it off.",
              Launch.class));

  private Demo() {}

  private record DemoTool<A extends Record>(
      String name,
      String description,
      Class<A> arguments,
      Optional<Class<? extends Record>> result,
      boolean cpuBound,
      Work<A> work)
      implements Tool<A> {

    interface Work<A> {
      ToolResult call(A given, ToolCall call) throws InterruptedException;
    }

    @Override
    public boolean readOnlyHint() {
      return true;
    }

    @Override
    public boolean openWorldHint() {
      return false;
    }

    @Override
    public ToolResult call(A given, ToolCall call) throws InterruptedException {
      return work.call(given, call);
    }
  }

  @RegisterForReflection
  record Text(@JsonPropertyDescription("What to return.") String message) {}

  @RegisterForReflection
  record Steps(
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

  private static ToolResult countDown(Steps given, ToolCall call) throws InterruptedException {
    int from = given.from();
    int millis = given.intervalMs();
    call.log(LogLevel.DEBUG, "countdown", "from " + from + ", a step takes " + millis + " ms");
    for (int step = 1; step <= from; step++) {
      Thread.sleep(millis);
      call.progress(step, (double) from, "T-" + (from - step));
    }
    return ToolResult.text("liftoff");
  }

  @RegisterForReflection
  record Range(
      @JsonPropertyDescription("The largest number to look at.") @Min(1) @Max(1_000_000_000)
          int upTo) {}

  @RegisterForReflection
  record Primes(
      @JsonPropertyDescription("How many primes there are.") int count,
      @JsonPropertyDescription("The largest of them; 0 if there is none.") int largest) {}

  private static ToolResult countPrimes(Range given, ToolCall call) {
    int count = 0;
    int largest = 0;
    int stride = Math.max(1, given.upTo() / STEPS);
    for (int number = 1; number <= given.upTo(); number++) {
      call.checkCancelled();
      if (isPrime(number)) {
        count++;
        largest = number;
      }
      if (number % stride == 0) {
        call.progress(number, (double) given.upTo(), null);
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

  enum Language {
    ENGLISH,
    GERMAN
  }

  @RegisterForReflection
  record Form(
      @JsonPropertyDescription("The name to greet.") @Size(min = 1, max = 100) String name,
      @JsonProperty(defaultValue = "ENGLISH") Language language) {}

  private static ToolResult greet(ToolCall call) throws InterruptedException {
    return switch (call.client().elicit("Who is there?", Form.class, ELICITATION_TIMEOUT)) {
      case Client.ElicitationResult.Accept<Form>(Form(String name, Language language)) ->
          ToolResult.text((language == Language.ENGLISH ? "Hello, " : "Hallo, ") + name + "!");
      case Client.ElicitationResult.Decline<Form> _ -> ToolResult.text("Hello!");
      case Client.ElicitationResult.Cancel<Form> _ -> ToolResult.error("No name was given.");
    };
  }

  private record AboutResource(String uri, String name, String description, String mimeType)
      implements Resource {

    @Override
    public ContentBlock.TextResource read() {
      return new ContentBlock.TextResource(
          uri, mimeType, "A gateway without a server behind it, and a few tools to try it with.");
    }
  }

  @RegisterForReflection
  record Launch(
      @JsonProperty(defaultValue = "liftoff") @JsonPropertyDescription("What comes at zero.")
          String event) {}

  /** Makes a model start a long call. */
  private record CutPrompt(String name, String description, Class<Launch> arguments)
      implements Prompt<Launch> {

    @Override
    public List<Prompt.PromptMessage> get(Launch given) {
      return List.of(
          Prompt.PromptMessage.user(
              "Call countdown with 30 steps, and tell me of the " + given.event() + "."));
    }
  }
}
