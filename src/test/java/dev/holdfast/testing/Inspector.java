package dev.holdfast.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The command line of the MCP Inspector, as it is published, speaking to one server. */
public final class Inspector {

  private static final String SCRIPT =
      "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<String> server;
  private final boolean program;

  private Inspector(List<String> server, boolean program) {
    this.server = server;
    this.program = program;
  }

  /** Speaks Streamable HTTP. */
  public static Inspector overHttp(URI endpoint) {
    return new Inspector(
        List.of("--transport", "http", "--server-url", endpoint.toString()), false);
  }

  /** Speaks the older HTTP+SSE. */
  public static Inspector overSse(URI endpoint) {
    return new Inspector(List.of("--transport", "sse", "--server-url", endpoint.toString()), false);
  }

  /** Starts a program and speaks to it over stdio. */
  public static Inspector overStdio(List<String> command) {
    return new Inspector(command, true);
  }

  /** The names of all tools. */
  public List<String> tools() {
    return run("--method", "tools/list")
        .path("tools")
        .valueStream()
        .map(tool -> tool.path("name").asText())
        .toList();
  }

  /**
   * Calls a tool.
   *
   * @param argument its only argument, as {@code name=value}
   * @return the text of the result
   */
  public String call(String tool, String argument) {
    return run("--method", "tools/call", "--tool-name", tool, "--tool-arg", argument)
        .at("/content/0/text")
        .asText();
  }

  private JsonNode run(String... words) {
    List<String> all = new ArrayList<>(List.of("--cli"));
    if (!program) {
      all.addAll(server);
    }
    all.addAll(List.of(words));
    if (program) {
      all.add("--");
      all.addAll(server);
    }
    ProcessResult result = NodeFixture.run(home(), TIMEOUT, SCRIPT, all.toArray(String[]::new));
    try {
      return JSON.readTree(result.stdout());
    } catch (JsonProcessingException none) {
      throw new AssertionError(result.toString(), none);
    }
  }

  /** The Inspector keeps its state in a home directory, which is not that of the developer. */
  private static Path home() {
    try {
      return Files.createDirectories(Path.of("target", "inspector").toAbsolutePath());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
