package dev.holdfast.http;

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
 * Clients that read nothing are cut off after a while. Before, their tails waited for the socket
 * until TCP gave up, with the place of the connection.
 */
@QuarkusTest
@Tag("quarkus")
@TestProfile(Profiles.Impatient.class)
class StuckClientTest {

  private static final int MESSAGES = 8000;
  private static final int SIZE = 1000;

  @Inject ManualTool tool;

  private final String key = UUID.randomUUID().toString();
  private McpClient client;

  @BeforeEach
  void begin() {
    client = McpClient.at(Endpoints.usual());
  }

  @AfterEach
  void end() {
    client.delete();
  }

  @Test
  void shouldCutOffAClientThatNeverReads() throws Exception {
    try (NonReadingClient deaf =
        NonReadingClient.connect(Endpoints.usual()).post(client.session(), call())) {
      String start = priming(deaf.readUntil("_0-0\n"));
      tool.flood(key, MESSAGES, SIZE);

      awaitAllPlacesBack();

      assertThatThrownBy(() -> deaf.in().readAllBytes()).isInstanceOf(SocketException.class);
      assertHasAll(client.resume(start));
    }
  }

  /** The second request waits for the end of the first response, and is never answered. */
  @Test
  void shouldCutOffAClientThatPipelines() throws Exception {
    try (NonReadingClient deaf = NonReadingClient.connect(Endpoints.usual())) {
      String ping = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}";
      deaf.post(client.session(), call()).post(client.session(), ping);
      deaf.readUntil("_0-0\n");
      tool.flood(key, MESSAGES, SIZE);

      awaitAllPlacesBack();

      assertThatThrownBy(() -> deaf.in().readAllBytes()).isInstanceOf(SocketException.class);
    }
  }

  @Test
  void shouldGiveTheStreamOfAStuckClientToItsNextConnection() throws Exception {
    try (NonReadingClient deaf =
        NonReadingClient.connect(Endpoints.usual()).post(client.session(), call())) {
      String start = priming(deaf.readUntil("_0-0\n"));
      tool.flood(key, MESSAGES, SIZE);

      assertHasAll(client.resume(start));

      awaitAllPlacesBack();
    }
  }

  /** Of HTTP/2 only the stream ends: the connection is used by others. */
  @Test
  void shouldCutOffAStreamOfHttp2() throws Exception {
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
      tool.flood(key, MESSAGES, SIZE);

      assertThat(end.get()).isInstanceOf(StreamResetException.class);
      awaitAllPlacesBack();
      HttpClientResponse other = post(http, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
      assertThat(other.statusCode()).isEqualTo(200);
      assertThat(other.request().connection()).isSameAs(stuck.request().connection());
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get();
    }
  }

  private HttpClientResponse post(HttpClient http, String body)
      throws ExecutionException, InterruptedException {
    int port = Endpoints.usual().getPort();
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

  private static String priming(String head) {
    return head.substring(head.lastIndexOf("id: ") + "id: ".length()).strip();
  }

  private static void awaitAllPlacesBack() {
    await().until(() -> Metrics.of(Metrics.CONNECTIONS) == 0);
  }

  private static void assertHasAll(FrameStream stream) {
    List<Frame.Event> events = stream.events();
    assertThat(events)
        .extracting(Frame.Event::number)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, MESSAGES + 1L).boxed().toList());
  }
}
