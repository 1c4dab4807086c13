package dev.holdfast.http;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks CORS: which requests a browser page may send, and which responses it may read. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class CorsTest {

  private static final String PAGE = "http://localhost:6274";
  private static final String ALLOW_ORIGIN = "Access-Control-Allow-Origin";
  private static final String CALL =
      """
      {"jsonrpc":"2.0","id":1,"method":"tools/call","params":\
      {"name":"echo","arguments":{"message":"hello"}}}\
      """;

  @SuppressWarnings("NullAway.Init")
  private McpClient client;

  @BeforeEach
  void initialize() {
    client = McpClient.at(GatewayUrl.mcp());
  }

  @AfterEach
  void end() {
    client.delete();
  }

  private static RequestSpecification from(String origin) {
    return given().header("Origin", origin);
  }

  private RequestSpecification inSession() {
    return from(PAGE)
        .header("Mcp-Session-Id", client.session())
        .header("Accept", "application/json, text/event-stream");
  }

  private static RequestSpecification preflight(String origin, String method) {
    return from(origin)
        .header("Access-Control-Request-Method", method)
        .header("Access-Control-Request-Headers", "content-type,mcp-session-id,last-event-id");
  }

  @ParameterizedTest
  @CsvSource({"POST, /mcp", "GET, /mcp", "DELETE, /servers/scripted/mcp", "GET, /health"})
  void shouldAcceptAPreflight(String method, String path) {
    Response answer = preflight(PAGE, method).options(path);

    assertThat(answer.statusCode()).isEqualTo(204);
    assertThat(answer.header(ALLOW_ORIGIN)).isEqualTo(PAGE);
    assertThat(answer.header("Access-Control-Allow-Methods")).contains(method);
    assertThat(answer.header("Access-Control-Allow-Headers").split(", "))
        .containsExactly(
            "Content-Type",
            "Accept",
            "Authorization",
            "Mcp-Session-Id",
            "MCP-Protocol-Version",
            "Mcp-Method",
            "Mcp-Name",
            "Last-Event-ID",
            "Cache-Control",
            "If-None-Match",
            "traceparent",
            "tracestate",
            "X-Tenant");
    assertThat(answer.header("Access-Control-Max-Age")).isEqualTo("7200");
    assertThat(answer.header("Access-Control-Allow-Credentials")).isNull();
    assertThat(answer.headers().getValues("Vary")).contains("Origin");
  }

  /** Any tool may want its arguments in headers, so their names are not known before. */
  @Test
  void shouldAcceptHeadersThatRepeatArguments() {
    Response answer =
        from(PAGE)
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", "mcp-param-region, Mcp-Param-A(b), x-other")
            .options("/mcp");

    assertThat(answer.header("Access-Control-Allow-Headers").split(", "))
        .contains("mcp-param-region")
        .doesNotContain("mcp-param-a(b)", "x-other");
  }

  @Test
  void shouldRefuseAPreflightFromAnotherOrigin() {
    Response answer = preflight("https://evil.example", "POST").options("/mcp");

    assertForbidden(answer);
  }

  @Test
  void shouldSendNoCorsHeadersWithForbidden() {
    assertForbidden(from("https://evil.example").get("/mcp"));
    assertForbidden(from(PAGE).header("Host", "evil.example").get("/mcp"));
  }

  private static void assertForbidden(Response answer) {
    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(answer.path("jsonrpc").toString()).isEqualTo("2.0");
    assertThat(answer.headers().asList())
        .noneMatch(header -> header.getName().startsWith("Access-Control-"));
    assertThat(answer.headers().getValues("Vary")).contains("Origin");
  }

  @Test
  void shouldShareStreamsWithAllowedOrigins() {
    Response answer = inSession().contentType("application/json").body(CALL).post("/mcp");

    assertThat(answer.contentType()).startsWith("text/event-stream");
    assertShared(answer, 200);
    assertThat(answer.asString()).contains("hello");
  }

  @Test
  void shouldShareResponsesWithAndWithoutBody() {
    String ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    String note = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}";

    assertShared(inSession().contentType("application/json").body(ping).post("/mcp"), 200);
    assertShared(inSession().contentType("application/json").body(note).post("/mcp"), 202);
    assertShared(from(PAGE).get("/health"), 200);
  }

  /** Without CORS headers, a page cannot even read the status. */
  @ParameterizedTest
  @ValueSource(strings = {"/mcp:400", "/nothing:404", "/servers/none/mcp:404"})
  void shouldShareErrors(String pathAndStatus) {
    List<String> parts = List.of(pathAndStatus.split(":"));

    assertShared(
        from(PAGE).header("Accept", "text/event-stream").get(parts.get(0)),
        Integer.parseInt(parts.get(1)));
  }

  @Test
  void shouldShareErrorsOfTheTransport() {
    assertShared(from(PAGE).contentType("text/plain").body("x").post("/mcp"), 415);
    assertShared(from(PAGE).put("/mcp"), 405);
    assertShared(inSession().header("Last-Event-ID", "nosuchstream_1-1").get("/mcp"), 400);
  }

  private static void assertShared(Response answer, int status) {
    assertThat(answer.statusCode()).as(answer.asString()).isEqualTo(status);
    assertThat(answer.headers().getValues(ALLOW_ORIGIN)).containsExactly(PAGE);
    assertThat(answer.header("Access-Control-Expose-Headers").split(", "))
        .contains("Mcp-Session-Id", "MCP-Protocol-Version", "Retry-After")
        .contains("Holdfast-Call", "ETag", "Stream-Cursor", "Stream-Closed")
        .contains("Stream-Next-Offset", "Stream-Up-To-Date");
    assertThat(answer.headers().getValues("Vary")).contains("Origin");
  }

  @Test
  void shouldSendNoCorsHeadersWithoutAnOrigin() {
    Response answer = given().get("/health");

    assertThat(answer.header(ALLOW_ORIGIN)).isNull();
    // Otherwise a cache could return this response to a page.
    assertThat(answer.headers().getValues("Vary")).contains("Origin");
  }
}
