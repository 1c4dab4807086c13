package dev.holdfast.http;

import dev.holdfast.upstream.local.Client.ElicitationResult;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/** A tool that a test controls: what it asks, and how it ends. */
@ApplicationScoped
public class JobTool implements Tool<JobTool.Arguments> {

  /** The steps of a job. */
  enum Step {
    ASK,
    ASK_TWICE,
    FINISH,
    REPORT_AN_ERROR,
    FAIL
  }

  /** The arguments. The key identifies the call to the test. */
  @RegisterForReflection
  public record Arguments(@Nullable String key) {}

  /** A form. */
  @RegisterForReflection
  public record Name(String name) {}

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Map<String, BlockingQueue<Step>> steps = new ConcurrentHashMap<>();

  void go(String key, Step step) {
    steps(key).add(step);
  }

  private BlockingQueue<Step> steps(String key) {
    return steps.computeIfAbsent(key, _ -> new LinkedBlockingQueue<>());
  }

  @Override
  public String name() {
    return "job";
  }

  @Override
  public String description() {
    return "Works as a test says.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolCall call) throws Exception {
    StringBuilder heard = new StringBuilder("done");
    while (true) {
      switch (steps(Objects.requireNonNullElse(arguments.key(), "")).take()) {
        case ASK -> heard.append(' ').append(ask(call, "Your name?"));
        case ASK_TWICE -> {
          try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var first = threads.submit(() -> ask(call, "Your name?"));
            var second = threads.submit(() -> ask(call, "And hers?"));
            heard.append(' ').append(first.get()).append(' ').append(second.get());
          }
        }
        case FINISH -> {
          return ToolResult.text(heard.toString());
        }
        case REPORT_AN_ERROR -> {
          return ToolResult.error("no luck");
        }
        // The client has not declared this.
        case FAIL -> heard.append(call.client().roots(PATIENCE));
      }
    }
  }

  private static String ask(ToolCall call, String question) throws InterruptedException {
    return call.client().elicit(question, Name.class, PATIENCE)
            instanceof ElicitationResult.Accept<Name>(Name(String name))
        ? name
        : "nobody";
  }
}
