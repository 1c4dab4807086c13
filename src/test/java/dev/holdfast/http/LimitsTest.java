package dev.holdfast.http;

import static io.restassured.RestAssured.given;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import dev.holdfast.testing.SseClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks that the gateway refuses what exceeds a limit, and that running calls continue. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.LowLimits.class)
class LimitsTest {

  /** The limit of this profile. */
  private static final int MESSAGE_BYTES = 100 << 10;

  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";

  @Inject ControlledTool tool;

  private final List<McpClient> clients = new ArrayList<>();
  private ControlledCall call;

  @BeforeEach
  void beginCall() {
    // The connections of the previous test close shortly after it.
    await().until(() -> Metrics.of(Metrics.CONNECTIONS) == 0);
    open();
    call = ControlledCall.start(client(), tool);
  }

  @AfterEach
  void endSessions() {
    clients.stream()
        .filter(each -> each.initialized().statusCode() == 200)
        .forEach(McpClient::delete);
  }

  private McpClient client() {
    return clients.getLast();
  }

  private McpClient open() {
    McpClient opened = McpClient.at(GatewayUrl.mcp());
    clients.add(opened);
    return opened;
  }

  @Test
  void shouldRefuseSessionsPastTheLimit() {
    McpClient first = client();
    open();
    open();

    HttpResponse<String> refused = open().initialized();

    assertLimitReached(refused.statusCode(), refused.headers(), refused.body());
    assertThat(refused.body()).contains("\"id\":0", "sessions");
    call.assertContinues(call.stream(), 1);
    first.delete();
    assertThat(open().initialized().statusCode()).isEqualTo(200);
  }

  /** A client opens such a session with a mere GET, so it counts before its initialize. */
  @Test
  void shouldCountSseSessionsBeforeInitialize() {
    SseClient first = SseClient.at(GatewayUrl.of("/sse"));
    SseClient second = SseClient.at(GatewayUrl.of("/sse"));

    FrameStream refused = second.resume("");

    refused.rest();
    assertLimitReached(refused.status(), refused.headers(), refused.raw());
    assertThat(refused.raw()).contains("sessions");
    first.delete();
    assertThat(SseClient.at(GatewayUrl.of("/sse")).delete().statusCode()).isEqualTo(204);
    second.delete();
    call.assertContinues(call.stream(), 1);
  }

  @Test
  void shouldRefuseStreamsOfASessionPastTheLimit() {
    // The standalone stream counts too.
    FrameStream listening = client().ready().listen();
    ControlledCall second = ControlledCall.start(client(), tool);

    FrameStream refused = client().call("manual", "{}");

    refused.rest();
    assertLimitReached(refused.status(), refused.headers(), refused.raw());
    assertThat(refused.raw()).contains("\"id\":3", "streams");
    second.assertContinues(second.stream(), 1);
    FrameStream accepted = client().call("echo", "{\"message\":\"room again\"}");
    assertThat(accepted.event().data()).contains("room again");
    call.assertContinues(call.stream(), 1);
    listening.cut();
  }

  @Test
  void shouldRefuseConnectionsPastTheLimit() {
    McpClient first = client();
    McpClient other = open();
    ControlledCall second = ControlledCall.start(other, tool);
    FrameStream third = other.listen();
    FrameStream fourth = first.listen();

    for (FrameStream refused :
        List.of(
            first.resume(call.stream().lastEventId()),
            first.call("echo", "{\"message\":\"no\"}"))) {
      refused.rest();
      assertLimitReached(refused.status(), refused.headers(), refused.raw());
      assertThat(refused.raw()).contains("connections");
    }

    fourth.cut();
    await()
        .until(() -> {
          FrameStream accepted = first.call("echo", "{\"message\":\"room again\"}");
          return accepted.events().toString().contains("room again");
        });
    call.assertContinues(call.stream(), 1);
    second.assertContinues(second.stream(), 1);
    third.cut();
  }

  @Test
  void shouldRefuseFollowersPastTheLimit() throws Exception {
    String handle = call.stream().headers().firstValue("Holdfast-Call").orElseThrow();
    String path = "/calls/" + handle + "/stream?offset=-1&live=sse";
    byte[] request =
        "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(path).getBytes(US_ASCII);
    try (NonReadingClient second = NonReadingClient.connect(GatewayUrl.mcp()).send(request);
        NonReadingClient third = NonReadingClient.connect(GatewayUrl.mcp()).send(request);
        NonReadingClient fourth = NonReadingClient.connect(GatewayUrl.mcp()).send(request)) {
      for (NonReadingClient follower : List.of(second, third, fourth)) {
        assertThat(follower.readUntil("streamNextOffset")).contains("200 OK");
      }

      assertThat(given().get(path).statusCode()).isEqualTo(429);
    }
    await().until(() -> given().get(path.replace("&live=sse", "")).statusCode() == 200);
    call.assertContinues(call.stream(), 1);
  }

  /** A request that ends without a stream must release its connection slot. */
  @Test
  void shouldReleaseTheSlotOfARequestWithoutAStream() throws Exception {
    for (int i = 0; i < 10; i++) {
      assertThat(client().resumeWhole("nosuchstream_1-1").statusCode()).isEqualTo(400);
      assertThat(client().post(PING).statusCode()).isEqualTo(200);
      assertThat(head()).isEqualTo(405);
    }

    FrameStream listening = client().listen();
    assertThat(listening.status()).isEqualTo(200);
    listening.cut();
    call.assertContinues(call.stream(), 1);
  }

  private int head() throws Exception {
    HttpRequest head =
        HttpRequest.newBuilder(GatewayUrl.mcp())
            .version(HttpClient.Version.HTTP_1_1)
            .HEAD()
            .header("Accept", "text/event-stream")
            .header("Mcp-Session-Id", client().session())
            .build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(head, BodyHandlers.discarding()).statusCode();
    }
  }

  @Test
  void shouldRefuseLargeMessages() {
    String large =
        PING.replace("}", ",\"params\":{\"x\":\"%s\"}}".formatted("x".repeat(MESSAGE_BYTES)));

    HttpResponse<String> refused = client().post(large);

    assertTooLarge(refused);
    call.assertContinues(call.stream(), 1);
  }

  @Test
  void shouldRefuseLargeMessagesWithoutAContentLength() throws Exception {
    byte[] large = new byte[1 << 20];
    HttpRequest chunked =
        HttpRequest.newBuilder(GatewayUrl.mcp())
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .header("Mcp-Session-Id", client().session())
            .POST(BodyPublishers.fromPublisher(BodyPublishers.ofByteArray(large)))
            .build();

    try (HttpClient http = HttpClient.newHttpClient()) {
      assertTooLarge(http.send(chunked, BodyHandlers.ofString()));
    }
    call.assertContinues(call.stream(), 1);
  }

  @Test
  void shouldAcceptAMessageOfTheMaximumSize() {
    int room = MESSAGE_BYTES - PING.length() - ",\"params\":{\"x\":\"\"}".length();
    String fits = PING.replace("}", ",\"params\":{\"x\":\"%s\"}}".formatted("x".repeat(room)));

    assertThat(client().post(fits).statusCode()).isEqualTo(200);
  }

  private static void assertTooLarge(HttpResponse<String> refused) {
    assertThat(refused.statusCode()).isEqualTo(413);
    assertThat(refused.headers().firstValue("Content-Type").orElse(""))
        .startsWith("application/json");
    assertThat(refused.body())
        .contains("-32000", MESSAGE_BYTES + " bytes")
        .doesNotContain("\"id\"");
  }

  /** A client that came back to its call was once refused the result. */
  @Test
  void shouldTellAClientOfPurgedEventsAndBringTheRest() {
    double appended = Metrics.of(Metrics.APPENDED);
    FrameStream before = call.stream();
    before.cut();
    tool.sendAndFinish(call.key(), 9200, 10);
    String cursor = before.lastEventId();
    await().until(() -> Metrics.of(Metrics.APPENDED) > appended + 9200);

    // The stream had 9202 events: a first one, 9200 messages and the result. The last 9000 remain.
    String body = client().resumeWhole(cursor).body();

    assertThat(body).containsPattern(": gap: events after \\d{13}-1 up to \\d{13}-202 are purged");
    assertThat(body.lines().filter(line -> line.startsWith("data: {"))).hasSize(9000);
    assertThat(body).contains("finished");
  }

  /** An event source stops on any error status, so it does not silently skip the lost events. */
  @Test
  void shouldReportPurgedEventsToAnEventSource() {
    double appended = Metrics.of(Metrics.APPENDED);
    SseClient client = SseClient.initialized(GatewayUrl.of("/sse"));
    String cursor = client.stream().lastEventId();
    client.stream().cut();
    client.post(SseClient.call("5", "manual", "{\"key\":\"flooded\"}"));
    tool.sendAndFinish("flooded", 9200, 10);
    // The writer waits for a client that comes back.
    await().until(() -> Metrics.of(Metrics.APPENDED) > appended + 9200);

    await()
        .untilAsserted(() -> {
          FrameStream refused = client.resume(cursor);
          if (refused.status() == 200) {
            refused.cut();
          }
          assertThat(refused.status()).isEqualTo(410);
          refused.rest();
          assertThat(refused.raw())
              .contains("-32000", "\"purged\":true")
              .containsPattern("\"firstAvailable\":\"" + client.session() + "_m_\\d{13}-\\d+\"");
        });
    client.delete();
  }

  private static void assertLimitReached(int status, HttpHeaders headers, String body) {
    assertThat(status).isEqualTo(429);
    assertThat(headers.firstValueAsLong("Retry-After").orElseThrow()).isBetween(1L, 4L);
    assertThat(body).contains("-32000", "Too many");
  }
}
