package dev.holdfast.testing;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** An MCP server over stdio, as its client sees it. Keeps every line. */
public final class StdioProgram implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final BufferedWriter stdin;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final List<String> errors = new CopyOnWriteArrayList<>();

  /** Starts the server. */
  public StdioProgram(List<String> command) {
    this(new ProcessBuilder(command));
  }

  /** Starts the server with a directory or an environment of its own. */
  public StdioProgram(ProcessBuilder builder) {
    try {
      process = builder.start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    stdin = process.outputWriter();
    drain(process.inputReader(), lines);
    drain(process.errorReader(), errors);
  }

  private static void drain(BufferedReader reader, List<String> lines) {
    // A platform thread: reading a pipe blocks the carrier of a virtual one.
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          try (reader) {
            reader.lines().forEach(lines::add);
          } catch (IOException | UncheckedIOException end) {
            lines.add(end.toString());
          }
        });
  }

  /** Writes a line. */
  public StdioProgram say(String line) {
    try {
      stdin.write(line + "\n");
      stdin.flush();
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(toString(), failure);
    }
  }

  /** Opens the session, as request 0. */
  public StdioProgram handshake() {
    say(
        """
        {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
        "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\
        """);
    response(0);
    return say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
  }

  /** Calls a tool; its progress has the id for a token. */
  public StdioProgram call(int id, String tool, String arguments) {
    return say(ToolRequest.of(id, tool, arguments));
  }

  /** Waits for the response to a request. */
  public JsonNode response(int id) {
    return parse(responseLine(id, Duration.ofSeconds(60)));
  }

  /** Waits for the response to a request, for no longer than the limit; as it was written. */
  public String responseLine(int id, Duration limit) {
    await()
        .atMost(limit)
        .failFast("it has ended", () -> !process.isAlive() && !hasResponse(id))
        .until(() -> hasResponse(id));
    return lines.stream().filter(line -> answers(id).test(parse(line))).findFirst().orElseThrow();
  }

  /** Whether the response to a request has come. */
  public boolean hasResponse(int id) {
    return messages().anyMatch(answers(id));
  }

  private static Predicate<JsonNode> answers(int id) {
    return message -> message.path("id").asInt(-1) == id && !message.has("method");
  }

  /** Waits until so much progress of a call has come. */
  public void awaitProgress(int id, int count) {
    await().atMost(Duration.ofSeconds(60)).until(() -> progress(id).size() >= count);
  }

  /** The progress of a call so far. */
  public List<Integer> progress(int id) {
    return messages()
        .filter(message -> message.at("/params/progressToken").asInt(-1) == id)
        .map(message -> message.at("/params/progress").asInt())
        .toList();
  }

  /** What it said on stderr so far. */
  public List<String> errors() {
    return List.copyOf(errors);
  }

  /** All messages so far; fails if a line is none. */
  public Stream<JsonNode> messages() {
    return lines.stream().map(StdioProgram::parse);
  }

  private static JsonNode parse(String line) {
    try {
      return JSON.readTree(line);
    } catch (JsonProcessingException none) {
      throw new AssertionError("no message: " + line, none);
    }
  }

  /** Ends its stdin and waits for its end. */
  public int end() {
    try {
      stdin.close();
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        throw new AssertionError("it does not end: " + this);
      }
      return process.exitValue();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  /** Sends SIGTERM and waits for its end. */
  public boolean terminate() throws InterruptedException {
    process.destroy();
    return process.waitFor(20, TimeUnit.SECONDS);
  }

  @Override
  public String toString() {
    return "stdout:\n" + String.join("\n", lines) + "\nstderr:\n" + String.join("\n", errors);
  }

  /** Kills it, if it still runs. */
  @Override
  public void close() {
    ProcessRun.kill(process);
  }
}
