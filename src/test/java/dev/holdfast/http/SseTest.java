package dev.holdfast.http;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.SseClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.response.Response;
import jakarta.inject.Inject;
import java.net.http.HttpResponse;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the HTTP with SSE transport (2024-11-05), in which a session has one resumable stream. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class SseTest {

  private static final String UNKNOWN = "/messages/" + "x".repeat(43);
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";

  @Inject ControlledTool tool;

  private static SseClient open() {
    return SseClient.initialized(GatewayUrl.of("/sse"));
  }

  @ParameterizedTest
  @CsvSource({
    "/sse,                  /messages/",
    "/mcp/sse,              /messages/",
    "/servers/scripted/sse, /servers/scripted/messages/"
  })
  void shouldSendTheEndpointFirst(String path, String messages) {
    SseClient client = SseClient.at(GatewayUrl.of(path));

    assertThat(client.stream().status()).isEqualTo(200);
    assertThat(client.endpoint()).isEqualTo(messages + client.session());
    assertThat(client.session()).hasSize(43);
    assertThat(client.stream().raw())
        .matches(
            "event: endpoint\nid: %s_m_0-0\nretry: [56]\\d{3}\ndata: %s\n\n"
                .formatted(client.session(), client.endpoint()));
    assertThat(client.stream().headers().firstValue("Content-Type").orElseThrow())
        .startsWith("text/event-stream");
    client.delete();
  }

  @ParameterizedTest
  @ValueSource(strings = {"2024-11-05", "2025-11-25"})
  void shouldAnswerOnTheStream(String version) {
    SseClient client = SseClient.at(GatewayUrl.of("/sse"));

    HttpResponse<String> accepted = client.post(SseClient.initialize("\"first\"", version));
    Frame.Event initialized = client.stream().event();
    client.post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    client.post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    Frame.Event listed = client.stream().event();
    client.post(SseClient.call("2", "echo", "{\"message\":\"hello\"}"));
    Frame.Event answered = client.stream().event();

    assertThat(accepted.statusCode()).isEqualTo(202);
    assertThat(accepted.body()).isEqualTo("{\"status\":\"accepted\"}");
    assertThat(initialized.data()).contains("\"first\"", "\"protocolVersion\":\"" + version);
    assertThat(listed.data()).contains("\"id\":1", "\"tools\"");
    assertThat(answered.data()).contains("\"id\":2", "hello");
    assertThat(initialized.id()).startsWith(client.session() + "_m_");
    assertThat(answered.number()).isEqualTo(3);
    assertThat(client.stream().raw()).contains("event: message\nid: " + answered.id() + "\ndata: ");
    client.delete();
    assertThat(client.stream().rest()).last().isEqualTo(new Frame.End(true));
  }

  @Test
  void shouldSendUnsolicitedMessagesOnTheStream() {
    SseClient client = SseClient.initialized(GatewayUrl.of("/servers/scripted/sse"));

    assertThat(client.stream().event().data()).contains("unasked 1");
    assertThat(client.stream().event().data()).contains("unasked 2");
    Frame.Event last = client.stream().event();

    assertThat(last.data()).contains("unasked 3");
    assertThat(last.number()).isEqualTo(4);
    client.delete();
  }

  @Test
  void shouldReplayAfterLastEventId() {
    SseClient client = open();
    String key = UUID.randomUUID().toString();
    client.post(SseClient.call("1", "manual", "{\"key\":\"" + key + "\"}"));
    tool.send(key, "before");
    Frame.Event before = client.stream().event();
    client.stream().cut();
    tool.send(key, "while nobody listened");

    FrameStream rest = client.resume(before.id());

    Frame.Event endpoint = rest.event();
    assertThat(endpoint).isEqualTo(new Frame.Event(before.id(), client.endpoint()));
    Frame.Event missed = rest.event();
    assertThat(missed.data()).contains("while nobody listened");
    assertThat(missed.number()).isEqualTo(before.number() + 1);
    tool.finish(key);
    assertThat(rest.event().data()).contains("finished");
    client.delete();
  }

  @Test
  void shouldResumeBeforeTheFirstEvent() {
    SseClient client = SseClient.at(GatewayUrl.of("/sse"));
    client.stream().cut();
    client.post(SseClient.initialize("0", "2024-11-05"));

    FrameStream again = client.resume(client.session() + "_m_0-0");

    assertThat(again.event().data()).isEqualTo(client.endpoint());
    assertThat(again.event().data()).contains("\"result\"");
    client.delete();
  }

  @Test
  void shouldEvictTheOlderConnection() {
    SseClient client = open();

    FrameStream newer = client.resume(client.stream().lastEventId());
    newer.event();

    assertThat(client.stream().rest())
        .anyMatch(Frame.Retry.class::isInstance)
        .last()
        .isEqualTo(new Frame.End(true));
    client.post(PING);
    assertThat(newer.event().data()).contains("\"id\":7");
    client.delete();
  }

  @ParameterizedTest
  @ValueSource(strings = {"nonsense", "g_0-0", "%s", "%s_m", "%s_m_1", "%s_g_0-0", "x%s_m_0-0"})
  void shouldOpenASessionForAnInvalidLastEventId(String lastEventId) {
    SseClient client = SseClient.at(GatewayUrl.of("/sse"));

    FrameStream other = client.resume(lastEventId.formatted(client.session()));

    String endpoint = other.event().data();
    assertThat(endpoint).startsWith("/messages/").isNotEqualTo(client.endpoint());
    other.cut();
    client.delete();
    assertThat(given().delete(endpoint).statusCode()).isEqualTo(204);
  }

  @Test
  void shouldRefuseASecondInitializeOnTheStream() {
    SseClient client = open();

    int status = client.post(SseClient.initialize("9", "2024-11-05")).statusCode();

    assertThat(status).isEqualTo(202);
    assertThat(client.stream().event().data()).contains("\"id\":9", "-32600", "already");
    client.post(PING);
    assertThat(client.stream().event().data()).contains("\"id\":7", "\"result\"");
    client.delete();
  }

  @ParameterizedTest
  @ValueSource(strings = {"crash", "gone", "break", "garbage"})
  void shouldReportAnUpstreamFailureOnTheStream(String failure) {
    SseClient client = SseClient.initialized(GatewayUrl.of("/servers/scripted/sse"));

    int status = client.post(SseClient.call("5", failure, "{}")).statusCode();

    assertThat(status).isEqualTo(202);
    Frame.Event event = client.stream().event();
    while (!event.data().contains("\"id\":5")) {
      event = client.stream().event();
    }
    assertThat(event.data()).contains("\"error\"").doesNotContain("Secret");
    client.delete();
  }

  /** A notification has no response on the stream, so only the status can report the failure. */
  @ParameterizedTest
  @CsvSource({"scripted, notifications/crash, 502", "hasty, notifications/stall, 504"})
  void shouldReportARefusedNotificationByStatus(String server, String method, int status) {
    SseClient client = SseClient.at(GatewayUrl.of("/servers/" + server + "/sse"));
    do {
      // On a busy machine, initialize may exceed the short timeout of the upstream.
      client.post(SseClient.initialize("0", "2024-11-05"));
    } while (!client.stream().event().data().contains("\"result\""));

    HttpResponse<String> failed =
        client.post("{\"jsonrpc\":\"2.0\",\"method\":\"" + method + "\"}");

    assertThat(failed.statusCode()).isEqualTo(status);
    assertThat(failed.body()).contains("\"error\"").doesNotContain("\"id\"", "Secret");
    client.delete();
  }

  @Test
  void shouldReportAnUnreachableUpstreamAndAcceptARetry() {
    SseClient client = SseClient.at(GatewayUrl.of("/servers/down/sse"));

    client.post(SseClient.initialize("0", "2024-11-05"));
    assertThat(client.stream().event().data()).contains("\"error\"", "cannot be reached");
    client.post(SseClient.initialize("1", "2024-11-05"));

    assertThat(client.stream().event().data()).contains("\"id\":1", "cannot be reached");
    client.delete();
  }

  @Test
  void shouldRefuseRequestsBeforeInitialize() {
    SseClient client = SseClient.at(GatewayUrl.of("/sse"));

    HttpResponse<String> early = client.post(PING);

    assertThat(early.statusCode()).isEqualTo(400);
    assertThat(early.body()).contains("\"id\":7", "-32600");
    client.delete();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "nonsense                                            | 400 | -32700",
        "{\"jsonrpc\":\"2.0\"}                               | 400 | -32600",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}] | 400 | -32600",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}} | 400 | -32602"
      })
  void shouldRefuseAnInvalidBody(String body, int status, int code) {
    SseClient client = SseClient.initialized(GatewayUrl.of("/sse"));

    HttpResponse<String> refused = client.post(body);

    assertThat(refused.statusCode()).isEqualTo(status);
    assertThat(refused.body()).contains(Integer.toString(code));
    client.post(PING);
    assertThat(client.stream().event().data()).contains("\"id\":7");
    client.delete();
  }

  private static int post(String path, String type, String body) {
    return given().contentType(type).body(body).post(path).statusCode();
  }

  @Test
  void shouldRefuseRequestsOfOtherTransports() {
    McpClient other = McpClient.at(GatewayUrl.mcp());
    SseClient client = open();

    assertThat(post(UNKNOWN, "application/json", PING)).isEqualTo(404);
    assertThat(post("/messages/short", "application/json", PING)).isEqualTo(404);
    assertThat(post("/messages/" + other.session(), "application/json", PING)).isEqualTo(404);
    assertThat(post("/servers/scripted" + client.endpoint(), "application/json", PING))
        .isEqualTo(404);
    assertThat(post(client.endpoint(), "text/plain", PING)).isEqualTo(415);
    assertThat(given().accept("application/json").get("/sse").statusCode()).isEqualTo(406);
    assertThat(given().accept("text/event-stream").get("/servers/none/sse").statusCode())
        .isEqualTo(404);
    assertThat(given().head("/sse").statusCode()).isEqualTo(405);
    assertThat(
            given()
                .header("Mcp-Session-Id", client.session())
                .accept("application/json, text/event-stream")
                .contentType("application/json")
                .body(PING)
                .post("/mcp")
                .statusCode())
        .isEqualTo(404);
    assertThat(client.resume("x".repeat(43) + "_m_0-0").status()).isEqualTo(404);
    client.delete();
    assertThat(client.post(PING).statusCode()).isEqualTo(404);
    other.delete();
  }

  @Test
  void shouldServeAllowedOriginsOnly() {
    SseClient client = open();

    Response shared =
        given()
            .header("Origin", "http://localhost:6274")
            .contentType("application/json")
            .body(PING)
            .post(client.endpoint());
    Response refused =
        given().header("Origin", "http://evil.example").accept("text/event-stream").get("/sse");

    assertThat(shared.statusCode()).isEqualTo(202);
    assertThat(shared.header("Access-Control-Allow-Origin")).isEqualTo("http://localhost:6274");
    assertThat(refused.statusCode()).isEqualTo(403);
    client.delete();
  }
}
