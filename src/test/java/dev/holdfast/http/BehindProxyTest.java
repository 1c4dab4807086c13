package dev.holdfast.http;

import static io.restassured.RestAssured.given;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.HostileClient;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.response.Response;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks a gateway behind a trusted proxy, with all origins allowed and few requests at once. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.BehindProxy.class)
class BehindProxyTest {

  private static final String SLOW = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}";
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}";

  /** The limits of this profile. */
  private static final int CONNECTIONS = 4;

  private static final int REQUESTS = 2;

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<McpClient> clients = new ArrayList<>();

  @AfterEach
  void close() {
    clients.forEach(McpClient::delete);
    http.shutdownNow();
  }

  @Test
  void shouldLimitConnectionsPerForwardedAddress() throws Exception {
    for (int i = 0; i < CONNECTIONS; i++) {
      assertThat(listen("192.0.2.1").statusCode()).isEqualTo(200);
    }

    // Clients write what they like. The proxy appends their address.
    HttpResponse<InputStream> refused = listen("192.0.2.2, 192.0.2.1");

    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValueAsLong("Retry-After").orElseThrow()).isBetween(1L, 4L);
    assertThat(new String(refused.body().readAllBytes(), UTF_8)).contains("this client");
    assertThat(listen("192.0.2.2").statusCode()).isEqualTo(200);
  }

  /** Opens the standalone stream of a new session; {@link #close} ends it. */
  private HttpResponse<InputStream> listen(String address)
      throws IOException, InterruptedException {
    McpClient client = McpClient.at(GatewayUrl.mcp()).ready();
    clients.add(client);
    HttpRequest get =
        HttpRequest.newBuilder(GatewayUrl.mcp())
            .version(HttpClient.Version.HTTP_1_1)
            .header("Accept", "text/event-stream")
            .header("Mcp-Session-Id", client.session())
            .header("X-Forwarded-For", address)
            .build();
    return http.send(get, BodyHandlers.ofInputStream());
  }

  /** Before, nobody answered these: the framework failed before any route had the request. */
  @ParameterizedTest
  @ValueSource(strings = {"", ", 7.7.7.7", "\t, 7.7.7.7", ":80, 7.7.7.7"})
  void shouldAnswerAddressesThatCannotBeRead(String address) {
    String request = "GET /health HTTP/1.1\r\nHost: localhost\r\n";
    String unreadable = request + "X-Forwarded-For: " + address + "\r\n\r\n";

    assertThat(answers(unreadable)).startsWith("HTTP/1.1 400 ").contains("Invalid HTTP request");
    // One that waited for the response to the one before has no thread of its socket.
    assertThat(answers(request + "\r\n" + unreadable)).contains("HTTP/1.1 200 ", "HTTP/1.1 400 ");
  }

  private static String answers(String requests) {
    try (HostileClient client = HostileClient.connect(GatewayUrl.mcp())) {
      return client.send(requests).readAll();
    }
  }

  @Test
  void shouldLogNoTraceOfAddressesThatCannotBeRead() {
    String request = "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: %s\r\n\r\n";
    String requests = request.formatted("7.7.7.7:99999") + request.formatted(",");
    try (LoggedLines all = new LoggedLines("")) {
      all.awaitRepeating(
          "request failed in the framework, its connection ends", () -> answers(requests));

      assertThat(all.lines())
          .noneMatch(line -> line.matches("(?s)(Unhandled|Uncaught|Failed to).*"));
    }
  }

  /** The other streams of the connection are those of other clients of the proxy. */
  @Test
  void shouldResetTheStreamOfAnAddressThatCannotBeRead() throws Exception {
    HttpRequest health =
        HttpRequest.newBuilder(GatewayUrl.of("/health")).version(HttpClient.Version.HTTP_2).build();
    HttpRequest unreadable =
        HttpRequest.newBuilder(health, (_, _) -> true).header("X-Forwarded-For", ",").build();
    assertThat(http.send(health, BodyHandlers.ofString()).version())
        .isEqualTo(HttpClient.Version.HTTP_2);

    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> http.send(unreadable, BodyHandlers.ofString()))
        .withMessageContaining("RST_STREAM");
    assertThat(http.send(health, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
  }

  @Test
  void shouldRefuseRequestsPastTheLimit() {
    // On a busy machine, initialize may also exceed the timeout of half a second.
    McpClient slow =
        await()
            .until(
                () -> McpClient.at(GatewayUrl.mcp("hasty")),
                opened -> opened.initialized().statusCode() == 200);
    McpClient client = McpClient.at(GatewayUrl.mcp());

    await()
        .untilAsserted(() -> {
          // The upstream never answers. Each request times out after half a second.
          for (int i = 0; i < REQUESTS; i++) {
            Thread.startVirtualThread(() -> slow.post(SLOW));
          }
          HttpResponse<String> refused = client.post(PING);
          assertThat(refused.statusCode()).isEqualTo(503);
          assertThat(refused.headers().firstValueAsLong("Retry-After").orElseThrow())
              .isBetween(1L, 4L);
          assertThat(refused.body()).contains("-32000", "Too many requests at once");
          // The limit must not apply to health checks.
          assertThat(given().get("/health").statusCode()).isEqualTo(200);
        });

    await().untilAsserted(() -> assertThat(client.post(PING).statusCode()).isEqualTo(200));
  }

  @Test
  void shouldAllowAllOriginsWithAWildcard() {
    Response answer = given().header("Origin", "https://anything.example").get("/health");

    assertThat(answer.header("Access-Control-Allow-Origin")).isEqualTo("*");
    // The response is the same for all origins, so a cache may share it.
    assertThat(answer.header("Vary")).isNull();
  }
}
