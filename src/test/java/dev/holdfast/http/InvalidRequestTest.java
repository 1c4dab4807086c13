package dev.holdfast.http;

import static io.restassured.RestAssured.given;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.config.EncoderConfig;
import io.restassured.config.RestAssuredConfig;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import jakarta.inject.Inject;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks that the gateway refuses invalid requests, and that a running call continues. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class InvalidRequestTest {

  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
  private static final String ABSENT = "";
  private static final String SESSION = "Mcp-Session-Id";
  private static final RestAssuredConfig EXACT =
      RestAssuredConfig.config()
          .encoderConfig(
              EncoderConfig.encoderConfig()
                  .appendDefaultContentCharsetToContentTypeIfUndefined(false));

  @Inject ControlledTool tool;

  private McpClient client;
  private ControlledCall call;

  @BeforeEach
  void beginCall() {
    client = McpClient.at(GatewayUrl.mcp());
    call = ControlledCall.start(client, tool);
  }

  @AfterEach
  void end() {
    client.delete();
  }

  /** Calls can be read only with {@code calls.follow}. */
  @Test
  void shouldNotServeCalls() {
    assertThat(call.stream().headers().firstValue("Holdfast-Call")).isEmpty();
    assertThat(given().get("/calls/x/stream").statusCode()).isEqualTo(404);
    assertThat(given().head("/calls/x/stream").statusCode()).isEqualTo(404);
    call.finish();
  }

  @Test
  void shouldLogWhatClientsDoWrong() {
    try (LoggedLines lines = new LoggedLines("dev.holdfast.http.error")) {
      lines.awaitRepeating(
          "malformed message of a client reason=Parse error",
          () -> given().contentType("application/json").accept("*/*").body("{").post("/mcp"));
      lines.awaitRepeating(
          "request of an unknown session, its client begins again session=xxxxxx… cause=ended or never opened",
          () -> given().header(SESSION, "x".repeat(43)).accept("*/*").get("/mcp"));
      assertThat(lines.lines()).noneMatch(line -> line.contains("xxxxxxx"));
    }
  }

  /**
   * An invalid request.
   *
   * @param headers those that differ from the headers of a valid request
   * @param id the request id that the error echoes, or null if the request has no readable id
   */
  record InvalidRequest(
      String name,
      String method,
      String path,
      Map<String, String> headers,
      String body,
      int status,
      int code,
      @Nullable Integer id) {

    static InvalidRequest post(
        String name, Map<String, String> headers, int status, int code, @Nullable Integer id) {
      return new InvalidRequest(name, "POST", "/mcp", headers, PING, status, code, id);
    }

    static InvalidRequest body(String name, String body, int code, @Nullable Integer id) {
      return new InvalidRequest(
          "a body that is " + name, "POST", "/mcp", Map.of(), body, 400, code, id);
    }

    static InvalidRequest other(
        String method, String path, Map<String, String> headers, int status, int code) {
      return new InvalidRequest(
          method + " " + path + " " + headers, method, path, headers, "", status, code, null);
    }

    @Override
    public String toString() {
      return name + ": " + status;
    }
  }

  static Stream<InvalidRequest> invalidRequests() {
    return Stream.of(invalidSessions(), invalidHeaders(), invalidBodies(), invalidPaths())
        .flatMap(List::stream);
  }

  private static List<InvalidRequest> invalidSessions() {
    Map<String, String> none = Map.of(SESSION, ABSENT);
    Map<String, String> unknown = Map.of(SESSION, "0123456789abcdefghijklmnopqrstuv");
    Map<String, String> malformed = Map.of(SESSION, "../../etc/passwd");
    // The body of a request with an unknown session is not read, so its id is unknown, too.
    return List.of(
        InvalidRequest.post("no session", none, 400, -32000, 7),
        InvalidRequest.post("an unknown session", unknown, 404, -32001, null),
        InvalidRequest.post("a session that cannot be", malformed, 404, -32001, null),
        new InvalidRequest(
            "another upstream's session",
            "POST",
            "/servers/scripted/mcp",
            Map.of(),
            PING,
            404,
            -32001,
            null),
        InvalidRequest.other("GET", "/mcp", none, 400, -32000),
        InvalidRequest.other("GET", "/mcp", unknown, 404, -32001),
        InvalidRequest.other("GET", "/servers/scripted/mcp", Map.of(), 404, -32001),
        InvalidRequest.other("DELETE", "/mcp", none, 400, -32000),
        InvalidRequest.other("DELETE", "/mcp", unknown, 404, -32001),
        InvalidRequest.other("DELETE", "/servers/scripted/mcp", Map.of(), 404, -32001));
  }

  private static List<InvalidRequest> invalidHeaders() {
    Map<String, String> version = Map.of("MCP-Protocol-Version", "1999-12-31");
    return List.of(
        new InvalidRequest(
            "a foreign origin",
            "POST",
            "/mcp",
            Map.of("Origin", "https://evil.example"),
            PING,
            403,
            -32000,
            null),
        InvalidRequest.other("GET", "/mcp", Map.of("Origin", "null"), 403, -32000),
        InvalidRequest.other(
            "DELETE", "/mcp", Map.of("Origin", "http://localhost.evil.example"), 403, -32000),
        InvalidRequest.other("GET", "/mcp", Map.of("Host", "evil.example"), 403, -32000),
        InvalidRequest.post(
            "Accept: only JSON", Map.of("Accept", "application/json"), 406, -32000, null),
        InvalidRequest.post(
            "Accept: only SSE", Map.of("Accept", "text/event-stream"), 406, -32000, null),
        InvalidRequest.other("GET", "/mcp", Map.of("Accept", "application/json"), 406, -32000),
        InvalidRequest.post("plain text", Map.of("Content-Type", "text/plain"), 415, -32000, null),
        InvalidRequest.post("no content type", Map.of("Content-Type", ABSENT), 415, -32000, null),
        InvalidRequest.post("an unknown version", version, 400, -32000, 7),
        InvalidRequest.other("GET", "/mcp", version, 400, -32000),
        InvalidRequest.other(
            "GET", "/mcp", Map.of("Last-Event-ID", "nosuchstream_1-1"), 400, -32000));
  }

  private static List<InvalidRequest> invalidBodies() {
    return List.of(
        InvalidRequest.body("empty", "", -32700, null),
        InvalidRequest.body("cut off", "{\"jsonrpc\":\"2.0\",\"id\":7", -32700, null),
        InvalidRequest.body("two documents", PING + PING, -32700, null),
        InvalidRequest.body("a number", "42", -32600, null),
        InvalidRequest.body("without jsonrpc", "{\"id\":7,\"method\":\"ping\"}", -32600, 7),
        InvalidRequest.body(
            "of JSON-RPC 1", "{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"m\"}", -32600, 7),
        InvalidRequest.body("without a purpose", "{\"jsonrpc\":\"2.0\",\"id\":7}", -32600, 7),
        InvalidRequest.body(
            "of null id", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, null),
        InvalidRequest.body("an empty batch", "[]", -32600, null),
        InvalidRequest.body(
            "a large batch", Collections.nCopies(101, PING).toString(), -32600, null),
        InvalidRequest.body("of a long id", PING.replace("7", "7".repeat(257)), -32600, null),
        InvalidRequest.body(
            "a batch, of which this revision has none", "[" + PING + "]", -32600, null));
  }

  private static List<InvalidRequest> invalidPaths() {
    Map<String, String> nothing = Map.of(SESSION, ABSENT, "Content-Type", ABSENT);
    return List.of(
        InvalidRequest.other("PUT", "/mcp", Map.of(), 405, -32000),
        InvalidRequest.other("PATCH", "/servers/scripted/mcp", Map.of(), 405, -32000),
        InvalidRequest.other("GET", "/nothing", Map.of(), 404, -32000),
        new InvalidRequest(
            "no such server", "POST", "/servers/none/mcp", nothing, "", 404, -32000, null),
        InvalidRequest.other("GET", "/servers/none/mcp", nothing, 404, -32000),
        InvalidRequest.other("DELETE", "/servers/none/mcp", nothing, 404, -32000),
        InvalidRequest.other("GET", "/servers/none/sse", nothing, 404, -32000),
        InvalidRequest.other("POST", "/servers/none/messages/x", nothing, 404, -32000),
        // The default upstream has one name only, so that rules of a proxy for it cannot be evaded.
        InvalidRequest.other("POST", "/servers/default/mcp", Map.of(), 404, -32000),
        InvalidRequest.other("GET", "/servers/default/sse", nothing, 404, -32000),
        InvalidRequest.other("POST", "/servers/default/messages/x", nothing, 404, -32000),
        InvalidRequest.other("POST", "/servers/%64efault/mcp", Map.of(), 404, -32000),
        InvalidRequest.other("POST", "/mcp/nothing", Map.of(), 404, -32000),
        InvalidRequest.other("GET", "/servers/scripted", Map.of(), 404, -32000),
        InvalidRequest.other("GET", "/nothing", Map.of("Accept", "text/html"), 404, -32000));
  }

  @ParameterizedTest
  @MethodSource("invalidRequests")
  void shouldRefuseInJsonRpcAndKeepTheCall(InvalidRequest invalid) {
    Response response = send(invalid);

    assertThat(response.statusCode()).as(response.asString()).isEqualTo(invalid.status());
    assertThat(response.contentType()).startsWith("application/json");
    assertThat(response.header(SESSION)).isNull();
    assertThat(response.path("jsonrpc").toString()).isEqualTo("2.0");
    assertThat(response.<Integer>path("error.code")).isEqualTo(invalid.code());
    assertThat(response.<Integer>path("id")).isEqualTo(invalid.id());
    assertThat(response.<String>path("error.message"))
        .isNotBlank()
        .doesNotContain("Exception", "dev.holdfast", "\n");
    call.assertContinues(call.stream(), 1);
  }

  private Response send(InvalidRequest invalid) {
    Map<String, String> headers = new HashMap<>();
    headers.put(SESSION, client.session());
    headers.put("MCP-Protocol-Version", McpClient.NEWEST);
    headers.put(
        "Accept",
        invalid.method().equals("GET")
            ? "text/event-stream"
            : "application/json, text/event-stream");
    headers.put("Content-Type", invalid.method().equals("POST") ? "application/json" : ABSENT);
    headers.putAll(invalid.headers());
    headers.values().removeIf(String::isEmpty);
    RequestSpecification request = given().config(EXACT).headers(headers);
    if (invalid.method().equals("POST")) {
      request.body(invalid.body().getBytes(UTF_8));
    }
    return request.request(invalid.method(), invalid.path());
  }
}
