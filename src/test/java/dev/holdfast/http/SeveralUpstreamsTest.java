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

/** What one upstream does, or has too much of, is nothing to the others. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(Profiles.Several.class)
class SeveralUpstreamsTest {

  private static final int MANY = 20;

  /** Half of what there is for all. */
  private static final int SHARE = 4;

  private static final String CANCELLED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}";

  @Test
  void shouldServeOneWhileAllRequestsToAnotherAreStuck() {
    McpClient stuck = McpClient.at(Endpoints.server("scripted"));
    List<Integer> answered = new CopyOnWriteArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < MANY; i++) {
        String request = request(100 + i, "resources/list");
        var _ = threads.submit(() -> answered.add(stuck.post(request).statusCode()));
      }
      await().until(() -> answered.size() == MANY - SHARE);

      McpClient other = McpClient.at(Endpoints.server("other"));
      for (int i = 0; i < MANY; i++) {
        assertThat(other.call("any", "{}").event().data()).contains("fine");
        assertThat(other.post(request(200 + i, "tools/list")).statusCode()).isEqualTo(200);
      }
      assertThat(McpClient.at(Endpoints.usual()).delete().statusCode()).isEqualTo(204);
      other.delete();

      assertThat(answered).hasSize(MANY - SHARE).containsOnly(503);
      threads.shutdownNow();
    }
  }

  @Test
  void shouldRefuseMoreSessionsOfOneUpstream() {
    McpClient only = McpClient.at(Endpoints.server("other"));

    HttpResponse<String> refused = McpClient.at(Endpoints.server("other")).initialized();

    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValue("Retry-After")).isPresent();
    assertThat(refused.body()).contains("\"id\":0", "sessions");
    McpClient elsewhere = McpClient.at(Endpoints.server("narrow"));
    assertThat(elsewhere.initialized().statusCode()).isEqualTo(200);
    elsewhere.delete();
    only.delete();
    McpClient next = McpClient.at(Endpoints.server("other"));
    assertThat(next.initialized().statusCode()).isEqualTo(200);
    next.delete();
  }

  @Test
  void shouldRefuseMoreRequestsThanThereMayBeConnections() {
    McpClient client = McpClient.at(Endpoints.server("narrow"));
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

  /** It may never answer, or only with the whole result. */
  @Test
  void shouldLetGoOfACancelledCallThatTheServerHasNotBegunToAnswer() {
    McpClient client = McpClient.at(Endpoints.server("narrow"));
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
