package dev.holdfast.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodeFixtureIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  @Test
  void shouldCountWithTheSdkClient() throws IOException {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER)) {
      ProcessResult result = call(server.url(), "count", "{\"n\":5,\"intervalMs\":10}");

      assertThat(result.exitCode()).as(result.toString()).isZero();
      assertThatCounted(result, 5);
    }
  }

  @Test
  void shouldAskInTheMiddleOfACall() throws IOException {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER)) {
      ProcessResult result = call(server.url(), "ask", "{\"question\":\"?\"}");

      assertThat(textOf(result)).isEqualTo("accept: yes");
    }
  }

  /**
   * Shows that the client and the server of the SDK do resume, so that a gateway has to as well.
   */
  @Test
  void shouldSurviveACutConnection() throws IOException {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        FaultProxy proxy = FaultProxy.inFrontOf(server.url())) {
      proxy.plan(exchange ->
          exchange.calls("tools/call")
              ? Fault.reset(Fault.Trigger.insideEvent(4, 20))
              : Fault.none());

      ProcessResult result = call(proxy.url(), "count", "{\"n\":10,\"intervalMs\":40}");

      assertThatCounted(result, 10);
      assertThat(proxy.exchanges())
          .anyMatch(exchange -> exchange.header("Last-Event-ID").isPresent());
    }
  }

  @Test
  void shouldEndWithItsOutputWhenTheServerDoesNotStart() {
    assertThatThrownBy(() -> NodeFixture.start(NodeFixture.CONFORMANCE_SERVER, "--no-such-option"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no-such-option");
  }

  @Test
  void shouldKillAScriptThatTakesTooLong() {
    assertThatThrownBy(
            () -> NodeFixture.run(Duration.ofMillis(300), "-e", "setInterval(() => {}, 1000)"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("did not end in PT0.3S");
  }

  @Test
  void shouldStopWhenClosed() {
    NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);

    server.close();

    assertThat(server.isAlive()).isFalse();
  }

  private static ProcessResult call(URI url, String tool, String arguments) {
    return NodeFixture.run(
        TIMEOUT,
        NodeFixture.SDK_CLIENT,
        "--url",
        url.toString(),
        "--tool",
        tool,
        "--args",
        arguments);
  }

  private static void assertThatCounted(ProcessResult result, int n) throws IOException {
    assertThat(textOf(result)).isEqualTo("counted " + n);
    assertThat(read(result).path("progress"))
        .extracting(JsonNode::asInt)
        .as(result.toString())
        .isEqualTo(IntStream.rangeClosed(1, n).boxed().toList());
  }

  private static String textOf(ProcessResult result) throws IOException {
    return read(result).at("/result/content/0/text").asText(result.toString());
  }

  private static JsonNode read(ProcessResult result) throws IOException {
    return new ObjectMapper().readTree(result.stdout());
  }
}
