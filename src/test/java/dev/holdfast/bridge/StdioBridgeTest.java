package dev.holdfast.bridge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LogLevelStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A client that writes all its messages at once and ends. */
class StdioBridgeTest {

  private static final int LONGEST = 300;
  private static final String INITIALIZE =
      """
      {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
      "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\
      """;
  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

  /** Returns the lines that the client gets. */
  private static List<String> told(String... said) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    String input = String.join("\n", said) + "\n";
    try (LocalUpstream upstream =
            new LocalUpstream(
                new LocalUpstream.ServerFeatures(List.of(), List.of(), List.of()),
                new LogLevelStore.InMemory(),
                "server",
                "1");
        StdioBridge bridge = new StdioBridge(upstream, out, LONGEST)) {
      assertThat(bridge.run(new ByteArrayInputStream(input.getBytes(UTF_8)))).isTrue();
    }
    return out.toString(UTF_8).lines().toList();
  }

  private static String ping(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"ping\"}";
  }

  @Test
  void shouldAnswerRequestsAfterClientEnded() {
    List<String> told = told(INITIALIZE, INITIALIZED, ping(1), "", ping(2));

    assertThat(told).hasSize(3);
    assertThat(told.getFirst()).contains("\"id\":0", "\"protocolVersion\":\"2025-11-25\"");
    assertThat(told)
        .anyMatch(line -> line.contains("\"id\":1") && line.contains("\"result\""))
        .anyMatch(line -> line.contains("\"id\":2") && line.contains("\"result\""));
  }

  @Test
  void beforeInitializeShouldRefuse() {
    assertThat(told(ping(1)))
        .singleElement()
        .asString()
        .contains("\"id\":1", "\"error\"", "initialize comes first");
  }

  @Test
  void shouldContinueAfterUnreadableLines() {
    List<String> told = told("{oops", "x".repeat(LONGEST + 2), INITIALIZE, ping(1));

    assertThat(told).hasSize(4);
    assertThat(told.get(0)).contains("-32700");
    assertThat(told.get(1)).contains("-32600", "longer than 300 bytes");
  }

  @Test
  void shouldPassOnErrorOfInitialize() {
    String wrong = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}";

    assertThat(told(wrong, ping(1)))
        .hasSize(2)
        .allMatch(line -> line.contains("\"error\""))
        .anyMatch(line -> line.contains("-32602"));
  }
}
