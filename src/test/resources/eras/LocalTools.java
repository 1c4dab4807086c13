package com.example.tools;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.holdfast.upstream.local.AskingPrompt;
import dev.holdfast.upstream.local.Client;
import dev.holdfast.upstream.local.Client.ElicitationResult.Accept;
import dev.holdfast.upstream.local.Client.Root;
import dev.holdfast.upstream.local.Client.SamplingRequest;
import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.ResourceTemplate;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Tools, prompts and resources of the test servers, under the same names. Nothing here changes lists or shows pages. */
@ApplicationScoped
public class LocalTools {

  private static final Duration WAIT = Duration.ofMinutes(1);
  private static final byte[] PNG =
      Base64.getDecoder()
          .decode(
              "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==");
  private static final byte[] WAV =
      Base64.getDecoder().decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=");

  /** Long enough for a gateway to make a task of the call. */
  private static final Duration LONG = Duration.ofMillis(600);

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  public record Count(int n, @JsonProperty(defaultValue = "0") int intervalMs) {}

  public record Text(String prompt) {}

  public record Question(String question) {}

  public record Message(String message) {}

  public record Report(String report) {}

  public record Answer(String answer) {}

  public record Response(String response) {}

  public record Name(String name) {}

  public record Color(String color) {}

  public record Ok(boolean ok) {}

  public record Confirmation(boolean confirm) {}

  public record File(String filename) {}

  public record Work(double seconds, @JsonProperty(defaultValue = "") String label) {}

  public record Two(String arg1, String arg2) {}

  public record Uri(String resourceUri) {}

  public record Context(String context) {}

  @Produces
  Tool<NoArguments> text() {
    return tool("test_simple_text", call -> text("This is a simple text response for testing."));
  }

  @Produces
  Tool<NoArguments> image() {
    return tool(
        "test_image_content",
        call -> ToolResult.content(new ContentBlock.Image(PNG, "image/png")));
  }

  @Produces
  Tool<NoArguments> audio() {
    return tool(
        "test_audio_content",
        call -> ToolResult.content(new ContentBlock.Audio(WAV, "audio/wav")));
  }

  @Produces
  Tool<NoArguments> embedded() {
    return tool(
        "test_embedded_resource",
        call ->
            ToolResult.content(
                new ContentBlock.TextResource(
                    "test://embedded-resource", "text/plain", "This is an embedded resource.")));
  }

  @Produces
  Tool<NoArguments> mixed() {
    return tool(
        "test_multiple_content_types",
        call ->
            ToolResult.content(
                new ContentBlock.Text("Multiple content types test:"),
                new ContentBlock.Image(PNG, "image/png"),
                new ContentBlock.TextResource(
                    "test://mixed-content-resource", "application/json", "{\"test\":\"data\"}")));
  }

  @Produces
  Tool<NoArguments> error() {
    return tool(
        "test_error_handling",
        call -> ToolResult.error("This tool intentionally returns an error for testing"));
  }

  @Produces
  Tool<NoArguments> progress() {
    return tool(
        "test_tool_with_progress",
        call -> {
          for (int progress : List.of(0, 50, 100)) {
            call.progress(progress, 100.0, null);
            Thread.sleep(50);
          }
          return text("done");
        });
  }

  @Produces
  Tool<Count> count() {
    return new SimpleTool<>(
        "count",
        Count.class,
        (given, call) -> {
          for (int i = 1; i <= given.n(); i++) {
            Thread.sleep(given.intervalMs());
            call.progress(i, (double) given.n(), null);
          }
          return text("counted " + given.n());
        });
  }

  @Produces
  Tool<NoArguments> streaming() {
    return tool(
        "test_streaming_elicitation",
        call -> {
          call.progress(1, 1.0, null);
          return text("asked nothing");
        });
  }

  @Produces
  Tool<NoArguments> logging() {
    return tool(
        "test_logging_tool",
        call -> {
          for (LogLevel level :
              List.of(LogLevel.DEBUG, LogLevel.INFO, LogLevel.WARNING, LogLevel.ERROR)) {
            call.log(level, "tool", level.name());
          }
          return text("logged");
        });
  }

  @Produces
  Tool<Question> ask() {
    return new SimpleTool<>(
        "ask",
        Question.class,
        (given, call) ->
            switch (call.client().elicit(given.question(), Answer.class, WAIT)) {
              case Accept<Answer>(Answer(String answer)) -> text("accept: " + answer);
              default -> text("no answer");
            });
  }

  @Produces
  Tool<Text> sampling() {
    return new SimpleTool<>(
        "test_sampling",
        Text.class,
        (given, call) -> text("LLM response: " + sample(call, given.prompt())));
  }

  @Produces
  Tool<Message> elicitation() {
    return new SimpleTool<>(
        "test_elicitation",
        Message.class,
        (given, call) ->
            text("User response: " + call.client().elicit(given.message(), Response.class, WAIT)));
  }

  @Produces
  Tool<NoArguments> missingCapability() {
    return tool("test_missing_capability", call -> text(sample(call, "Say pong")));
  }

  @Produces
  Tool<NoArguments> name() {
    return tool(
        "test_input_required_result_elicitation",
        call -> {
          for (; ; ) {
            if (call.client().withKey("user_name").elicit("What is your name?", Name.class, WAIT)
                instanceof Accept<Name>(Name(String name))) {
              return text("Hello, " + name + "!");
            }
          }
        });
  }

  @Produces
  Tool<NoArguments> capital() {
    return tool(
        "test_input_required_result_sampling",
        call -> text(sample(call, "What is the capital of France?")));
  }

  @Produces
  Tool<NoArguments> roots() {
    return tool(
        "test_input_required_result_list_roots",
        call ->
            text(
                call.client().roots(WAIT).stream()
                    .map(Root::uri)
                    .collect(Collectors.joining(" "))));
  }

  @Produces
  Tool<NoArguments> state() {
    return confirmation("test_input_required_result_request_state");
  }

  @Produces
  Tool<NoArguments> tampered() {
    return confirmation("test_input_required_result_tampered_state");
  }

  @Produces
  Tool<NoArguments> rounds() {
    return tool(
        "test_input_required_result_multi_round",
        call -> {
          var first = call.client().elicit("What is your name?", Name.class, WAIT);
          var second = call.client().elicit("What is your favorite color?", Color.class, WAIT);
          return first instanceof Accept<Name>(Name(String name))
                  && second instanceof Accept<Color>(Color(String color))
              ? text(name + " likes " + color)
              : text("no answer");
        });
  }

  @Produces
  Tool<NoArguments> several() {
    return tool(
        "test_input_required_result_multiple_inputs",
        call -> {
          try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var name =
                threads.submit(() -> call.client().elicit("What is your name?", Name.class, WAIT));
            var greeting = threads.submit(() -> sample(call, "Generate a greeting"));
            var roots = threads.submit(() -> call.client().roots(WAIT));
            return text(greeting.get() + " " + name.get() + ", " + roots.get().size() + " roots");
          }
        });
  }

  @Produces
  Tool<NoArguments> capabilities() {
    return tool(
        "test_input_required_result_capabilities",
        call ->
            call.client().capabilities().sampling()
                ? text(sample(call, "Generate a greeting"))
                : text("nothing to ask"));
  }

  @Produces
  Tool<Name> greet() {
    return new SimpleTool<>("greet", Name.class, (given, call) -> text("Hello, " + given.name() + "!"));
  }

  @Produces
  Tool<Work> compute() {
    return new SimpleTool<>(
        "slow_compute",
        Work.class,
        (given, call) -> {
          Thread.sleep(Duration.ofMillis((long) (given.seconds() * 1000)));
          return text("computed " + given.label());
        });
  }

  @Produces
  Tool<NoArguments> failing() {
    return tool(
        "failing_job",
        call -> {
          Thread.sleep(LONG);
          return ToolResult.error("The job has failed");
        });
  }

  @Produces
  Tool<NoArguments> breakingOff() {
    return tool(
        "protocol_error_job",
        call -> {
          Thread.sleep(LONG);
          // A client that has not declared this makes it an error of the protocol.
          return text("roots: " + call.client().roots(WAIT));
        });
  }

  @Produces
  Tool<File> delete() {
    return new SimpleTool<>(
        "confirm_delete",
        File.class,
        (given, call) -> {
          Thread.sleep(LONG);
          return text("deleted: " + call.client().elicit("Delete it?", Confirmation.class, WAIT));
        });
  }

  @Produces
  Tool<NoArguments> twoInputs() {
    return tool(
        "multi_input",
        call -> {
          Thread.sleep(LONG);
          try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var first = threads.submit(() -> call.client().elicit("Your name?", Name.class, WAIT));
            var second = threads.submit(() -> call.client().elicit("And hers?", Name.class, WAIT));
            return text(first.get() + " " + second.get());
          }
        });
  }

  @Produces
  Tool<NoArguments> task() {
    return tool(
        "test_tool_with_task",
        call -> {
          var name = call.client().withKey("user_name").elicit("Your name?", Name.class, WAIT);
          Thread.sleep(LONG.multipliedBy(2));
          return text("Hello, " + name);
        });
  }

  @Produces
  Tool<Report> hang() {
    return new SimpleTool<>(
        "hang",
        Report.class,
        (given, call) -> {
          try {
            // The cancellation may come before the response to this.
            send(given.report() + "?started");
            Thread.sleep(WAIT);
          } catch (InterruptedException cancelled) {
            send(given.report() + "?cancelled");
          }
          return text("cancelled");
        });
  }

  @Produces
  Prompt<NoArguments> simplePrompt() {
    return new SimplePrompt<>(
        "test_simple_prompt", NoArguments.class, given -> List.of(user("A simple prompt.")));
  }

  @Produces
  Prompt<Two> promptWithArguments() {
    return new SimplePrompt<>(
        "test_prompt_with_arguments",
        Two.class,
        given -> List.of(user("arg1='" + given.arg1() + "', arg2='" + given.arg2() + "'")));
  }

  @Produces
  Prompt<Uri> promptWithResource() {
    return new SimplePrompt<>(
        "test_prompt_with_embedded_resource",
        Uri.class,
        given ->
            List.of(
                new Prompt.PromptMessage(
                    Prompt.PromptMessage.Role.USER,
                    new ContentBlock.TextResource(
                        given.resourceUri(), "text/plain", "Embedded resource content.")),
                user("Please process the resource above.")));
  }

  @Produces
  Prompt<NoArguments> promptWithImage() {
    return new SimplePrompt<>(
        "test_prompt_with_image",
        NoArguments.class,
        given ->
            List.of(
                new Prompt.PromptMessage(
                    Prompt.PromptMessage.Role.USER, new ContentBlock.Image(PNG, "image/png")),
                user("Please analyze the image above.")));
  }

  @Produces
  AskingPrompt<NoArguments> asking() {
    return new ContextPrompt();
  }

  @Produces
  ResourceTemplate template() {
    return new Documents();
  }

  @Produces
  Resource staticText() {
    return new SimpleResource(
        new ContentBlock.TextResource("test://static-text", "text/plain", "A static text."));
  }

  @Produces
  Resource staticBinary() {
    return new SimpleResource(
        new ContentBlock.BlobResource("test://static-binary", "image/png", PNG));
  }

  private static Tool<NoArguments> confirmation(String name) {
    return tool(
        name, call -> text("state-ok: " + call.client().elicit("Please confirm", Ok.class, WAIT)));
  }

  private static String sample(ToolCall call, String question) throws InterruptedException {
    return call.client().sample(SamplingRequest.of(question, 100), WAIT).text();
  }

  private static void send(String uri) throws Exception {
    HTTP.send(HttpRequest.newBuilder(URI.create(uri)).build(), BodyHandlers.discarding());
  }

  private static ToolResult text(String text) {
    return ToolResult.text(text);
  }

  private static Prompt.PromptMessage user(String text) {
    return Prompt.PromptMessage.user(text);
  }

  private static Tool<NoArguments> tool(String name, Job work) {
    return new SimpleTool<>(name, NoArguments.class, (none, call) -> work.call(call));
  }

  private interface Job {
    ToolResult call(ToolCall call) throws Exception;
  }

  private record SimpleTool<A extends Record>(
      String name, Class<A> arguments, WorkOn<A> work) implements Tool<A> {
    private interface WorkOn<A> {
      ToolResult call(A given, ToolCall call) throws Exception;
    }

    @Override
    public String description() {
      return "A tool for tests";
    }

    @Override
    public ToolResult call(A given, ToolCall call) throws Exception {
      return work.call(given, call);
    }
  }

  private record SimplePrompt<A extends Record>(
      String name, Class<A> arguments, Template<A> template) implements Prompt<A> {
    private interface Template<A> {
      List<PromptMessage> of(A given);
    }

    @Override
    public String description() {
      return "A prompt for tests";
    }

    @Override
    public List<PromptMessage> get(A given) {
      return template.of(given);
    }

    @Override
    public List<String> complete(String argument, String begun) {
      return Stream.of("paris", "park", "party").filter(each -> each.startsWith(begun)).toList();
    }
  }

  private record ContextPrompt() implements AskingPrompt<NoArguments> {
    @Override
    public String name() {
      return "test_input_required_result_prompt";
    }

    @Override
    public String description() {
      return "A prompt for tests";
    }

    @Override
    public Class<NoArguments> arguments() {
      return NoArguments.class;
    }

    @Override
    public List<PromptMessage> get(NoArguments none, Client client) throws Exception {
      return client.withKey("user_context").elicit("Which context?", Context.class, WAIT)
              instanceof Accept<Context>(Context(String context))
          ? List.of(user("Context: " + context))
          : List.of(user("No context"));
    }
  }

  private record Documents() implements ResourceTemplate {
    @Override
    public String uriTemplate() {
      return "test://template/{id}/data";
    }

    @Override
    public String name() {
      return "template";
    }

    @Override
    public String description() {
      return "Documents for tests";
    }

    @Override
    public String mimeType() {
      return "application/json";
    }

    @Override
    public ContentBlock.EmbeddedResource read(String uri, Map<String, String> variables) {
      return new ContentBlock.TextResource(
          uri, mimeType(), "{\"id\":\"" + variables.get("id") + "\"}");
    }
  }

  private record SimpleResource(ContentBlock.EmbeddedResource read) implements Resource {
    @Override
    public String uri() {
      return switch (read) {
        case ContentBlock.TextResource text -> text.uri();
        case ContentBlock.BlobResource blob -> blob.uri();
      };
    }

    @Override
    public String name() {
      return uri().substring("test://".length());
    }

    @Override
    public String description() {
      return "A resource for tests";
    }

    @Override
    public String mimeType() {
      return switch (read) {
        case ContentBlock.TextResource text -> text.mimeType();
        case ContentBlock.BlobResource blob -> blob.mimeType();
      };
    }
  }
}
