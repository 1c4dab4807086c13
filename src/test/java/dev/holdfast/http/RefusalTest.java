package dev.holdfast.http;

import static io.restassured.RestAssured.given;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.config.EncoderConfig;
import io.restassured.config.RestAssuredConfig;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import jakarta.inject.Inject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every request that is refused for its form, and that a running call does not notice. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(Profiles.Usual.class)
class RefusalTest {

  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
  private static final String ABSENT = "";
  private static final String SESSION = "Mcp-Session-Id";
  private static final RestAssuredConfig EXACT =
      RestAssuredConfig.config()
          .encoderConfig(
              EncoderConfig.encoderConfig()
                  .appendDefaultContentCharsetToContentTypeIfUndefined(false));

  @Inject ManualTool tool;

  private McpClient client;
  private ManualCall call;

  @BeforeEach
  void beginCall() {
    client = McpClient.at(Endpoints.usual());
    call = ManualCall.begin(client, tool);
  }

  @AfterEach
  void end() {
    client.delete();
  }

  /**
   * A bad request.
   *
   * @param with headers that differ from those of a good one
   * @param id of the request, which the error echoes; null when it has none that can be read
   */
  record Bad(
      String name,
      String method,
      String path,
      Map<String, String> with,
      String body,
      int status,
      int code,
      @Nullable Integer id) {

    static Bad post(
        String name, Map<String, String> with, int status, int code, @Nullable Integer id) {
      return new Bad(name, "POST", "/mcp", with, PING, status, code, id);
    }

    static Bad body(String name, String body, int code, @Nullable Integer id) {
      return new Bad("a body that is " + name, "POST", "/mcp", Map.of(), body, 400, code, id);
    }

    static Bad other(String method, String path, Map<String, String> with, int status, int code) {
      return new Bad(method + " " + path + " " + with, method, path, with, "", status, code, null);
    }

    @Override
    public String toString() {
      return name + ": " + status;
    }
  }

  static Stream<Bad> badRequests() {
    return Stream.of(badSessions(), badHeaders(), badBodies(), badPaths()).flatMap(List::stream);
  }

  private static List<Bad> badSessions() {
    Map<String, String> none = Map.of(SESSION, ABSENT);
    Map<String, String> unknown = Map.of(SESSION, "0123456789abcdefghijklmnopqrstuv");
    Map<String, String> malformed = Map.of(SESSION, "../../etc/passwd");
    return List.of(
        Bad.post("no session", none, 400, -32000, 7),
        Bad.post("an unknown session", unknown, 404, -32001, 7),
        Bad.post("a session that cannot be", malformed, 404, -32001, 7),
        new Bad(
            "another upstream's session",
            "POST",
            "/servers/scripted/mcp",
            Map.of(),
            PING,
            404,
            -32001,
            7),
        Bad.other("GET", "/mcp", none, 400, -32000),
        Bad.other("GET", "/mcp", unknown, 404, -32001),
        Bad.other("GET", "/servers/scripted/mcp", Map.of(), 404, -32001),
        Bad.other("DELETE", "/mcp", none, 400, -32000),
        Bad.other("DELETE", "/mcp", unknown, 404, -32001),
        Bad.other("DELETE", "/servers/scripted/mcp", Map.of(), 404, -32001));
  }

  private static List<Bad> badHeaders() {
    Map<String, String> version = Map.of("MCP-Protocol-Version", "1999-12-31");
    return List.of(
        new Bad(
            "a foreign origin",
            "POST",
            "/mcp",
            Map.of("Origin", "https://evil.example"),
            PING,
            403,
            -32000,
            null),
        Bad.other("GET", "/mcp", Map.of("Origin", "null"), 403, -32000),
        Bad.other("DELETE", "/mcp", Map.of("Origin", "http://localhost.evil.example"), 403, -32000),
        Bad.other("GET", "/mcp", Map.of("Host", "evil.example"), 403, -32000),
        Bad.post("Accept: only JSON", Map.of("Accept", "application/json"), 406, -32000, null),
        Bad.post("Accept: only SSE", Map.of("Accept", "text/event-stream"), 406, -32000, null),
        Bad.other("GET", "/mcp", Map.of("Accept", "application/json"), 406, -32000),
        Bad.post("plain text", Map.of("Content-Type", "text/plain"), 415, -32000, null),
        Bad.post("no content type", Map.of("Content-Type", ABSENT), 415, -32000, null),
        Bad.post("an unknown version", version, 400, -32000, 7),
        Bad.other("GET", "/mcp", version, 400, -32000),
        Bad.other("GET", "/mcp", Map.of("Last-Event-ID", "nosuchstream_1-1"), 400, -32000));
  }

  private static List<Bad> badBodies() {
    return List.of(
        Bad.body("empty", "", -32700, null),
        Bad.body("cut off", "{\"jsonrpc\":\"2.0\",\"id\":7", -32700, null),
        Bad.body("two documents", PING + PING, -32700, null),
        Bad.body("a number", "42", -32600, null),
        Bad.body("without jsonrpc", "{\"id\":7,\"method\":\"ping\"}", -32600, 7),
        Bad.body("of JSON-RPC 1", "{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"m\"}", -32600, 7),
        Bad.body("without a purpose", "{\"jsonrpc\":\"2.0\",\"id\":7}", -32600, 7),
        Bad.body(
            "of null id", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, null),
        Bad.body("an empty batch", "[]", -32600, null),
        Bad.body("a batch, of which this revision has none", "[" + PING + "]", -32600, null));
  }

  private static List<Bad> badPaths() {
    Map<String, String> nothing = Map.of(SESSION, ABSENT, "Content-Type", ABSENT);
    return List.of(
        Bad.other("PUT", "/mcp", Map.of(), 405, -32000),
        Bad.other("PATCH", "/servers/scripted/mcp", Map.of(), 405, -32000),
        Bad.other("GET", "/nothing", Map.of(), 404, -32000),
        new Bad("no such server", "POST", "/servers/none/mcp", nothing, "", 404, -32000, null),
        Bad.other("GET", "/servers/none/mcp", nothing, 404, -32000),
        Bad.other("DELETE", "/servers/none/mcp", nothing, 404, -32000),
        Bad.other("GET", "/servers/none/sse", nothing, 404, -32000),
        Bad.other("POST", "/servers/none/messages/x", nothing, 404, -32000),
        Bad.other("POST", "/mcp/nothing", Map.of(), 404, -32000),
        Bad.other("GET", "/servers/scripted", Map.of(), 404, -32000),
        Bad.other("GET", "/nothing", Map.of("Accept", "text/html"), 404, -32000));
  }

  @ParameterizedTest
  @MethodSource("badRequests")
  void shouldRefuseInJsonRpcAndLoseNothing(Bad bad) {
    Response response = send(bad);

    assertThat(response.statusCode()).as(response.asString()).isEqualTo(bad.status());
    assertThat(response.contentType()).startsWith("application/json");
    assertThat(response.header(SESSION)).isNull();
    assertThat(response.path("jsonrpc").toString()).isEqualTo("2.0");
    assertThat(response.<Integer>path("error.code")).isEqualTo(bad.code());
    assertThat(response.<Integer>path("id")).isEqualTo(bad.id());
    assertThat(response.<String>path("error.message"))
        .isNotBlank()
        .doesNotContain("Exception", "dev.holdfast", "\n");
    call.assertGoesOn(call.stream(), 1);
  }

  private Response send(Bad bad) {
    Map<String, String> headers = new HashMap<>();
    headers.put(SESSION, client.session());
    headers.put("MCP-Protocol-Version", McpClient.NEWEST);
    headers.put(
        "Accept",
        bad.method().equals("GET") ? "text/event-stream" : "application/json, text/event-stream");
    headers.put("Content-Type", bad.method().equals("POST") ? "application/json" : ABSENT);
    headers.putAll(bad.with());
    headers.values().removeIf(String::isEmpty);
    RequestSpecification request = given().config(EXACT).headers(headers);
    if (bad.method().equals("POST")) {
      request.body(bad.body().getBytes(UTF_8));
    }
    return request.request(bad.method(), bad.path());
  }
}
