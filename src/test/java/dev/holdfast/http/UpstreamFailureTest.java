package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks how upstream failures reach the client, and that its session survives them. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class UpstreamFailureTest {

  @Test
  void shouldReportAnUnreachableUpstream() {
    HttpResponse<String> refused = McpClient.at(GatewayUrl.mcp("down")).initialized();

    assertError(refused, 502, "\"id\":0", "cannot be reached");
    assertThat(refused.headers().map()).doesNotContainKey("mcp-session-id");
  }

  @Test
  void shouldReportAnUnknownUpstream() {
    assertError(McpClient.at(GatewayUrl.mcp("nobody")).initialized(), 404, "No such server");
  }

  @Test
  void shouldReportATimeout() {
    McpClient client = McpClient.at(GatewayUrl.mcp("hasty"));

    HttpResponse<String> refused = client.post(request("resources/list"));

    assertError(refused, 504, "\"id\":7", "in time");
    assertStillServed(client);
  }

  @Test
  void shouldReportATimeoutOnTheStream() {
    McpClient client = McpClient.at(GatewayUrl.mcp("hasty"));

    FrameStream stream = client.call("stall", "{}");

    assertThat(stream.status()).isEqualTo(200);
    Frame.Event error = stream.event();
    assertThat(error.data()).contains("\"id\":1", "-32000", "in time", "outcome");
    assertThat(error.number()).isOne();
    assertThat(stream.rest()).containsExactly(new Frame.End(true));
    assertThat(client.resumeWhole(error.id()).statusCode()).isEqualTo(204);
    assertStillServed(client);
  }

  @ParameterizedTest
  @CsvSource({
    // The upstream refuses the gateway's credentials, not those of the client.
    "prompts/list, 502, no access",
    "resources/templates/list, 502, status 500",
    "completion/complete, 502, broke off"
  })
  void shouldNotForwardErrorBodies(String method, int status, String message) {
    McpClient client = McpClient.at(GatewayUrl.mcp("scripted"));

    assertError(client.post(request(method)), status, "\"id\":7", message);
    assertStillServed(client);
  }

  @Test
  void shouldForwardJsonRpcErrors() {
    McpClient client = McpClient.at(GatewayUrl.mcp("scripted"));

    assertError(client.post(request("prompts/get")), 400, "\"id\":7", "-32099", "mine");
    assertStillServed(client);
  }

  @ParameterizedTest
  @ValueSource(strings = {"unauthorized", "conflict", "explain", "crash", "garbage"})
  void shouldEndARefusedCallWithItsError(String how) {
    McpClient client = McpClient.at(GatewayUrl.mcp("scripted"));

    FrameStream stream = client.call(how, "{}");
    List<Frame> frames = stream.rest();

    // An immediate refusal becomes a status, a later one an event. Both end the call.
    assertThat(stream.raw())
        .contains("\"error\"", "\"id\":1")
        .doesNotContain(ScriptedUpstream.SECRET);
    assertThat(frames).last().isEqualTo(new Frame.End(true));
    assertStillServed(client);
  }

  @Test
  void shouldEndABrokenStreamWithAnError() {
    McpClient client = McpClient.at(GatewayUrl.mcp("scripted"));

    List<Frame.Event> events = client.call("break", "{}").events();

    assertThat(events).extracting(Frame.Event::number).containsExactly(1L, 2L);
    assertThat(events.getFirst().data()).contains("almost");
    assertThat(events.getLast().data()).contains("\"id\":1", "-32000", "broke off");
    assertStillServed(client);
  }

  @Test
  void shouldEndTheSessionWhenTheUpstreamForgetsIt() {
    McpClient client = McpClient.at(GatewayUrl.mcp("scripted"));

    FrameStream stream = client.call("gone", "{}");
    stream.rest();

    assertThat(stream.raw()).contains("\"id\":1", "-32001").doesNotContain("Secret");
  }

  private static void assertStillServed(McpClient client) {
    assertThat(client.call("quick", "{}").events())
        .singleElement()
        .satisfies(event -> assertThat(event.data()).contains("fine"));
  }

  private static String request(String method) {
    return "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\"}".formatted(method);
  }

  private static void assertError(HttpResponse<String> response, int status, String... parts) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(response.headers().firstValue("Content-Type").orElse(""))
        .startsWith("application/json");
    assertThat(response.body())
        .contains("\"jsonrpc\":\"2.0\"", "\"error\"")
        .contains(parts)
        .doesNotContain("Exception", "dev.holdfast", "127.0.0.1", ScriptedUpstream.SECRET);
  }
}
