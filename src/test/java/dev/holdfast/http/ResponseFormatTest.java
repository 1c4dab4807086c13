package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the format of responses, by request and protocol revision. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class ResponseFormatTest {

  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}";

  @Test
  void shouldBeginWithRetryAndAPrimingEvent() {
    FrameStream stream = echo(McpClient.at(GatewayUrl.mcp()));

    List<Frame> frames = stream.rest();

    Frame.Event priming = (Frame.Event) frames.get(1);
    assertThat(((Frame.Retry) frames.getFirst()).delay())
        .isBetween(Duration.ofSeconds(5), Duration.ofMillis(6250));
    assertThat(priming.id()).matches("[0-9a-z]+_0-0");
    assertThat(priming.data()).isEmpty();
    Frame.Event answer = (Frame.Event) frames.get(2);
    String name = priming.id().substring(0, priming.id().indexOf('_'));
    assertThat(answer.id()).matches(name + "_\\d{13}-1");
    assertThat(answer.data()).contains("\"id\":1", "hello");
    assertThat(frames).hasSize(4).last().isEqualTo(new Frame.End(true));
  }

  @ParameterizedTest
  @ValueSource(strings = {"2025-06-18", "2025-03-26"})
  void inOlderRevisionsShouldBeginWithAComment(String version) {
    FrameStream stream = echo(McpClient.at(GatewayUrl.mcp(), version));

    List<Frame> frames = stream.rest();

    assertThat(frames).hasSize(3).first().isEqualTo(new Frame.Comment());
    assertThat(((Frame.Event) frames.get(1)).data()).contains("hello");
    assertThat(((Frame.Event) frames.get(1)).id()).endsWith("-1");
    assertThat(frames).last().isEqualTo(new Frame.End(true));
  }

  @Test
  void shouldTellProxiesNotToBufferStreams() {
    McpClient client = McpClient.at(GatewayUrl.mcp());

    for (FrameStream stream : List.of(echo(client), client.listen())) {
      assertThat(stream.status()).isEqualTo(200);
      assertThat(stream.headers().allValues("Content-Type"))
          .singleElement()
          .asString()
          .startsWith("text/event-stream");
      assertThat(stream.headers().allValues("Cache-Control"))
          .containsExactly("no-cache, no-transform");
      assertThat(stream.headers().allValues("X-Accel-Buffering")).containsExactly("no");
      assertThat(stream.headers().allValues("Transfer-Encoding")).containsExactly("chunked");
      stream.cut();
    }
  }

  @Test
  void shouldSendTheSessionIdInTheInitializeResponseOnly() {
    McpClient client = McpClient.at(GatewayUrl.mcp());

    assertThat(client.initialized().statusCode()).isEqualTo(200);
    assertThat(client.initialized().headers().allValues("Mcp-Session-Id"))
        .singleElement()
        .asString()
        .matches("[\\x21-\\x7e]{20,}");
    assertThat(client.post(PING).headers().map()).doesNotContainKey("mcp-session-id");
    assertThat(echo(client).headers().map()).doesNotContainKey("mcp-session-id");
    assertThat(client.delete().headers().map()).doesNotContainKey("mcp-session-id");
  }

  @Test
  void shouldAnswerCheapRequestsAsJson() {
    McpClient client = McpClient.at(GatewayUrl.mcp());

    HttpResponse<String> pong = client.post(PING);
    HttpResponse<String> tools =
        client.post("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/list\"}");

    assertJson(pong);
    assertThat(pong.body()).contains("\"id\":\"p\"", "\"result\":{}");
    assertJson(tools);
    assertThat(tools.body()).contains("\"id\":8", "\"echo\"");
  }

  @Test
  void shouldMakeStreamedResponsesDurable() {
    McpClient client = McpClient.at(GatewayUrl.mcp("scripted"));

    FrameStream stream =
        client.stream("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"resources/read\"}");

    assertThat(stream.events())
        .singleElement()
        .satisfies(event -> assertThat(event.data()).contains("\"id\":9", "contents"))
        .satisfies(event -> assertThat(event.number()).isOne());
  }

  @Test
  void shouldMakeJsonResponsesOfCallsDurable() {
    FrameStream stream = McpClient.at(GatewayUrl.mcp("scripted")).call("quick", "{}");

    assertThat(stream.events())
        .singleElement()
        .satisfies(event -> assertThat(event.data()).contains("fine"))
        .satisfies(event -> assertThat(event.number()).isOne());
  }

  @Test
  void shouldAcceptNotificationsWithoutABody() {
    HttpResponse<String> accepted =
        McpClient.at(GatewayUrl.mcp())
            .post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");

    assertThat(accepted.statusCode()).isEqualTo(202);
    assertThat(accepted.body()).isEmpty();
  }

  @Test
  void inTheRevisionWithBatchesShouldAnswerEachMessage() {
    McpClient client = McpClient.at(GatewayUrl.mcp(), "2025-03-26");

    FrameStream stream = client.stream("[" + PING + "," + PING.replace("\"p\"", "\"q\"") + "]");

    String all = String.join("\n", stream.events().stream().map(Frame.Event::data).toList());
    assertThat(all).containsOnlyOnce("\"id\":\"p\"").containsOnlyOnce("\"id\":\"q\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2025-06-18", "2025-11-25"})
  void inRevisionsWithoutBatchesShouldRefuseABatch(String version) {
    HttpResponse<String> refused = McpClient.at(GatewayUrl.mcp(), version).post("[" + PING + "]");

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("-32600").doesNotContain("\"id\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"
      })
  void shouldRefuseInvalidBatches(String other) {
    HttpResponse<String> refused =
        McpClient.at(GatewayUrl.mcp(), "2025-03-26").post("[" + PING + "," + other + "]");

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("-32600");
  }

  /** The default of {@code limits.batch-messages} is 100. */
  @Test
  void shouldRefuseALargeBatch() {
    String large = Collections.nCopies(101, PING).toString();

    HttpResponse<String> refused = McpClient.at(GatewayUrl.mcp(), "2025-03-26").post(large);

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("-32600", "at most 100 messages");
  }

  private FrameStream echo(McpClient client) {
    return client.call("echo", "{\"message\":\"hello\"}");
  }

  private static void assertJson(HttpResponse<String> response) {
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().allValues("Content-Type"))
        .singleElement()
        .asString()
        .startsWith("application/json");
  }
}
