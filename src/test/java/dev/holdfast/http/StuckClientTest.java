package dev.holdfast.http;

import static io.restassured.RestAssured.given;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NonReadingClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.StreamResetException;
import jakarta.inject.Inject;
import java.net.SocketException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Checks the write timeout. Before it existed, the tail of a client that did not read waited for
 * TCP to give up, and held a connection slot all that time.
 */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.LowLimits.class)
class StuckClientTest {

  private static final int MESSAGES = 8000;
  private static final int SIZE = 1000;
  private static final String PLACES = "holdfast_places_used{limit=\"connections\"}";

  @Inject ControlledTool tool;

  private final String key = UUID.randomUUID().toString();
  private McpClient client;

  @BeforeEach
  void begin() {
    client = McpClient.at(GatewayUrl.mcp());
  }

  @AfterEach
  void end() {
    client.delete();
  }

  @Test
  void shouldDisconnectAClientThatNeverReads() throws Exception {
    try (NonReadingClient nonReading =
        NonReadingClient.connect(GatewayUrl.mcp()).post(client.session(), call())) {
      String start = primingId(nonReading.readUntil("_0-0\n"));
      tool.sendAndFinish(key, MESSAGES, SIZE);

      awaitNoConnections();

      assertThatThrownBy(() -> nonReading.in().readAllBytes()).isInstanceOf(SocketException.class);
      assertHasAllEvents(client.resume(start));
    }
  }

  /** The second request waits for the end of the first response, so it gets no response. */
  @Test
  void shouldDisconnectAClientThatPipelines() throws Exception {
    try (NonReadingClient nonReading = NonReadingClient.connect(GatewayUrl.mcp())) {
      String ping = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}";
      nonReading.post(client.session(), call()).post(client.session(), ping);
      nonReading.readUntil("_0-0\n");
      tool.sendAndFinish(key, MESSAGES, SIZE);

      awaitNoConnections();

      assertThatThrownBy(() -> nonReading.in().readAllBytes()).isInstanceOf(SocketException.class);
    }
  }

  @Test
  void shouldResumeTheStreamOfAStuckClientOnANewConnection() throws Exception {
    try (NonReadingClient nonReading =
        NonReadingClient.connect(GatewayUrl.mcp()).post(client.session(), call())) {
      String start = primingId(nonReading.readUntil("_0-0\n"));
      tool.sendAndFinish(key, MESSAGES, SIZE);

      assertHasAllEvents(client.resume(start));

      awaitNoConnections();
    }
  }

  /** A reader of the call by its handle does not hold the call back either. */
  @Test
  void shouldDisconnectAFollowerThatNeverReads() throws Exception {
    try (FrameStream call = client.stream(call());
        NonReadingClient follower = NonReadingClient.connect(GatewayUrl.mcp())) {
      String handle = call.headers().firstValue("Holdfast-Call").orElseThrow();
      follower.send(
          "GET /calls/%s/stream?offset=-1&live=sse HTTP/1.1\r\nHost: localhost\r\n\r\n"
              .formatted(handle)
              .getBytes(US_ASCII));
      follower.readUntil("streamNextOffset");
      assertThat(Metrics.of(PLACES)).isEqualTo(2);
      tool.sendAndFinish(key, MESSAGES, SIZE);

      assertThat(call.events()).isNotEmpty();
      await().until(() -> Metrics.of(PLACES) == 0);

      String end = "/calls/" + handle + "/stream?offset=now";
      await().until(() -> "true".equals(given().get(end).header("Stream-Closed")));
      assertThatThrownBy(() -> follower.in().readAllBytes()).isInstanceOf(SocketException.class);
    }
  }

  /** With HTTP/2, the gateway resets the stream only: other streams use the connection. */
  @Test
  void shouldResetAnHttp2Stream() throws Exception {
    Vertx vertx = Vertx.vertx();
    HttpClient http =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setHttp2ClearTextUpgrade(false));
    try {
      CompletableFuture<Throwable> end = new CompletableFuture<>();
      HttpClientResponse stuck = post(http, call());
      stuck.exceptionHandler(end::complete);
      stuck.pause();
      tool.sendAndFinish(key, MESSAGES, SIZE);

      assertThat(end.get()).isInstanceOf(StreamResetException.class);
      awaitNoConnections();
      HttpClientResponse other = post(http, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
      assertThat(other.statusCode()).isEqualTo(200);
      assertThat(other.request().connection()).isSameAs(stuck.request().connection());
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get();
    }
  }

  private HttpClientResponse post(HttpClient http, String body)
      throws ExecutionException, InterruptedException {
    int port = GatewayUrl.mcp().getPort();
    return http.request(HttpMethod.POST, port, "localhost", "/mcp")
        .map(request ->
            request
                .putHeader("Accept", "application/json, text/event-stream")
                .putHeader("Content-Type", "application/json")
                .putHeader("Mcp-Session-Id", client.session()))
        .compose((HttpClientRequest request) -> request.send(body))
        .toCompletionStage()
        .toCompletableFuture()
        .get();
  }

  private String call() {
    return """
    {"jsonrpc":"2.0","id":1,"method":"tools/call","params":\
    {"name":"manual","arguments":{"key":"%s"}}}\
    """
        .formatted(key);
  }

  private static String primingId(String head) {
    return head.substring(head.lastIndexOf("id: ") + "id: ".length()).strip();
  }

  private static void awaitNoConnections() {
    await().until(() -> Metrics.of(Metrics.CONNECTIONS) == 0);
  }

  private static void assertHasAllEvents(FrameStream stream) {
    List<Frame.Event> events = stream.events();
    assertThat(events)
        .extracting(Frame.Event::number)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, MESSAGES + 1L).boxed().toList());
  }
}
