package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.faults.server.CountingServer;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.ProcessResult;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that are followed at another replica, and whose own replica is killed. */
@Timeout(300)
class FollowedCallsIT {

  private static final int STEPS = 60;
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static <T> HttpResponse<T> get(
      URI stream, String query, HttpResponse.BodyHandler<T> body) {
    try {
      return HTTP.send(HttpRequest.newBuilder(URI.create(stream + query)).build(), body);
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isClosed(HttpResponse<?> response) {
    return response.headers().firstValue("Stream-Closed").isPresent();
  }

  /** Reads to the end, page by page. */
  private static List<JsonNode> pages(URI stream, String live) {
    List<JsonNode> messages = new ArrayList<>();
    String offset = "-1";
    while (true) {
      HttpResponse<String> page = get(stream, "?offset=" + offset + live, BodyHandlers.ofString());
      assertThat(page.statusCode()).as(page.body()).isIn(200, 204);
      if (page.statusCode() == 200) {
        StatelessClient.json(page.body()).forEach(messages::add);
      }
      if (isClosed(page)) {
        return messages;
      }
      offset = page.headers().firstValue("Stream-Next-Offset").orElseThrow();
    }
  }

  /** Reads to the end, over as many connections as it takes. */
  private static List<JsonNode> events(URI stream) {
    List<JsonNode> messages = new ArrayList<>();
    String offset = "-1";
    while (true) {
      try (FrameStream connection =
          new FrameStream(
              get(stream, "?live=sse&offset=" + offset, BodyHandlers.ofInputStream()))) {
        for (var event : connection.events()) {
          JsonNode data = StatelessClient.json(event.data());
          if (data.isArray()) {
            data.forEach(messages::add);
          } else if (data.path("streamClosed").asBoolean()) {
            return messages;
          } else {
            offset = data.path("streamNextOffset").asText();
          }
        }
      }
    }
  }

  /** Reads to the end with the official client of the protocol. */
  private static List<JsonNode> client(URI stream, String live) {
    ProcessResult followed =
        NodeFixture.run(PATIENCE, "streams/follow.mjs", stream.toString(), live);
    assertThat(followed.exitCode()).as(followed.toString()).isZero();
    return followed.stdout().lines().map(StatelessClient::json).toList();
  }

  @Test
  void shouldFollowACallToItsEnd() {
    try (RedisFixture redis = RedisFixture.start();
        CountingServer server = CountingServer.start(true);
        ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
      Map<String, String> settings = new HashMap<>(redis.gatewaySettings());
      settings.put("holdfast.upstream.url", server.url().toString());
      settings.put("holdfast.calls.follow", "true");
      List<Gateway> pair = Gateway.startPair(settings);
      try (Gateway one = pair.getFirst();
          Gateway two = pair.getLast();
          FrameStream call =
              McpClient.at(one.url())
                  .call("count", "{\"n\":%d,\"intervalMs\":200}".formatted(STEPS))) {
        String handle = call.headers().firstValue("Holdfast-Call").orElseThrow();
        URI stream = two.url("/calls/" + handle + "/stream");
        List<CompletableFuture<List<JsonNode>>> following =
            List.of(
                CompletableFuture.supplyAsync(() -> pages(stream, ""), readers),
                CompletableFuture.supplyAsync(() -> pages(stream, "&live=long-poll"), readers),
                CompletableFuture.supplyAsync(() -> events(stream), readers),
                CompletableFuture.supplyAsync(() -> client(stream, "sse"), readers),
                CompletableFuture.supplyAsync(() -> client(stream, "long-poll"), readers));
        // Messages of both owners.
        assertThat(call.event().data()).contains("\"progress\":1");
        assertThat(isClosed(get(stream, "?offset=now", BodyHandlers.ofString()))).isFalse();

        one.kill();

        for (CompletableFuture<List<JsonNode>> reader : following) {
          List<JsonNode> messages = reader.join();
          assertThat(messages).hasSize(STEPS + 1);
          for (int i = 0; i < STEPS; i++) {
            assertThat(messages.get(i).at("/params/progress").asInt()).isEqualTo(i + 1);
          }
          assertThat(messages.getLast().has("result")).as(messages.getLast().toString()).isTrue();
        }
        assertThat(server.repeatedCalls()).isEmpty();
      }
    }
  }

  /**
   * A reader goes on elsewhere, and must not keep a replica from stopping, however fast messages
   * come.
   */
  @Test
  void shouldSendReadersAwayWhenAReplicaStops() throws Exception {
    try (CountingServer server = CountingServer.start(true);
        Gateway gateway =
            Gateway.start(
                Map.of(
                    "holdfast.upstream.url", server.url().toString(),
                    "holdfast.stream.drain-timeout", "1s",
                    "holdfast.calls.follow", "true"));
        FrameStream call =
            McpClient.at(gateway.url()).call("count", "{\"n\":1000000,\"intervalMs\":1}")) {
      String handle = call.headers().firstValue("Holdfast-Call").orElseThrow();
      URI stream = gateway.url("/calls/" + handle + "/stream");
      try (FrameStream follower =
          new FrameStream(get(stream, "?live=sse&offset=-1", BodyHandlers.ofInputStream()))) {
        assertThat(follower.event().data()).isNotEmpty();

        gateway.terminate();

        List<Frame> rest = follower.rest();
        assertThat(rest.getLast()).isEqualTo(new Frame.End(true));
        assertThat(follower.raw()).doesNotContain("streamClosed");
      }
      assertThat(gateway.awaitEnd(60)).isTrue();
    }
  }
}
