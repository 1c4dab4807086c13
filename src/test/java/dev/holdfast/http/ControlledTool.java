package dev.holdfast.http;

import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A tool that a test controls: the test decides when a call sends a message and when it ends. */
@ApplicationScoped
public class ControlledTool implements Tool<ControlledTool.Arguments> {

  /** The arguments. The key identifies the call to the test. */
  @RegisterForReflection
  public record Arguments(@Nullable String key) {}

  private static final String DONE = "done";

  private final Map<String, BlockingQueue<String>> scripts = new ConcurrentHashMap<>();
  private final Map<String, AtomicInteger> executions = new ConcurrentHashMap<>();

  /** Number of executions of the tool with this key. */
  int executions(String key) {
    return executions.getOrDefault(key, new AtomicInteger()).get();
  }

  /** Sends a message on the stream of the call with this key. */
  void send(String key, String text) {
    script(key).add("send " + text);
  }

  /** Sends messages of the given size, then ends the call. */
  void sendAndFinish(String key, int messages, int bytesEach) {
    String text = "x".repeat(bytesEach);
    for (int i = 1; i <= messages; i++) {
      send(key, i + ":" + text);
    }
    finish(key);
  }

  /** Ends the call with this key. */
  void finish(String key) {
    script(key).add(DONE);
  }

  @Override
  public String name() {
    return "manual";
  }

  @Override
  public String description() {
    return "Does what a test says.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolCall call) throws InterruptedException {
    String key = Objects.requireNonNullElse(arguments.key(), "");
    BlockingQueue<String> script = script(key);
    executions.computeIfAbsent(key, _ -> new AtomicInteger()).incrementAndGet();
    for (String line = script.take(); !line.equals(DONE); line = script.take()) {
      call.log(LogLevel.INFO, "manual", line.substring("send ".length()));
    }
    return ToolResult.text("finished");
  }

  private BlockingQueue<String> script(String key) {
    return scripts.computeIfAbsent(key, _ -> new LinkedBlockingQueue<>());
  }
}
