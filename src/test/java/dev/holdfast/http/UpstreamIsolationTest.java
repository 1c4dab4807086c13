package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks that one upstream at its limits does not affect the others. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class UpstreamIsolationTest {

  private static final int MANY = 30;

  /** Requests one upstream may have: half the limit of all upstreams. */
  private static final int SHARE = 10;

  private static final String CANCELLED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}";

  @Test
  void shouldServeOneUpstreamWhileAnotherIsStuck() {
    McpClient stuck = McpClient.at(GatewayUrl.mcp("stuck"));
    List<Integer> answered = new CopyOnWriteArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < MANY; i++) {
        String request = request(100 + i, "resources/list");
        var _ = threads.submit(() -> answered.add(stuck.post(request).statusCode()));
      }
      await().until(() -> answered.size() == MANY - SHARE);

      McpClient other = McpClient.at(GatewayUrl.mcp("other"));
      for (int i = 0; i < MANY; i++) {
        assertThat(other.call("any", "{}").event().data()).contains("fine");
        assertThat(other.post(request(200 + i, "tools/list")).statusCode()).isEqualTo(200);
      }
      assertThat(McpClient.at(GatewayUrl.mcp()).delete().statusCode()).isEqualTo(204);
      other.delete();

      assertThat(answered).hasSize(MANY - SHARE).containsOnly(503);
      threads.shutdownNow();
    }
  }

  @Test
  void shouldLimitSessionsPerUpstream() {
    McpClient only = McpClient.at(GatewayUrl.mcp("other"));

    HttpResponse<String> refused = McpClient.at(GatewayUrl.mcp("other")).initialized();

    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValue("Retry-After")).isPresent();
    assertThat(refused.body()).contains("\"id\":0", "sessions");
    McpClient otherUpstream = McpClient.at(GatewayUrl.mcp("narrow"));
    assertThat(otherUpstream.initialized().statusCode()).isEqualTo(200);
    otherUpstream.delete();
    only.delete();
    McpClient next = McpClient.at(GatewayUrl.mcp("other"));
    assertThat(next.initialized().statusCode()).isEqualTo(200);
    next.delete();
  }

  @Test
  void shouldLimitConnectionsPerUpstream() {
    McpClient client = McpClient.at(GatewayUrl.mcp("narrow"));
    try (FrameStream stream = client.call("hang", "{}")) {
      assertThat(stream.event().data()).contains("almost");

      HttpResponse<String> refused = client.post(request(8, "tools/list"));

      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.headers().firstValue("Retry-After")).isPresent();
      assertThat(refused.body()).contains("\"id\":8", "no room");
    }
    client.post(CANCELLED);
    await().until(() -> client.post(request(9, "tools/list")).statusCode() == 200);
    client.delete();
  }

  /** The server may never answer, or may send nothing before the result. */
  @Test
  void shouldReleaseTheConnectionOfACancelledCallWithoutAnswer() {
    McpClient client = McpClient.at(GatewayUrl.mcp("narrow"));
    try (FrameStream stream = client.call("stall", "{}")) {
      client.post(CANCELLED);

      assertThat(stream.events()).isEmpty();
    }
    await().until(() -> client.post(request(9, "tools/list")).statusCode() == 200);
    client.delete();
  }

  private static String request(int id, String method) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"}".formatted(id, method);
  }
}
