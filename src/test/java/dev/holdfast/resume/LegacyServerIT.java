package dev.holdfast.resume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ToolRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two packaged gateways in front of a server that knows nothing but HTTP+SSE: that of the official
 * TypeScript SDK.
 */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class LegacyServerIT {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final String FOUND = "/mcp";
  private static final String RESPAWNING = "/servers/respawning/mcp";

  private static RedisFixture redis;
  private static NodeFixture server;
  private static Gateway one;
  private static Gateway two;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    server = NodeFixture.start(NodeFixture.LEGACY_SERVER);
    List<Gateway> pair = Gateway.startPair(settings());
    one = pair.getFirst();
    two = pair.getLast();
  }

  private static Map<String, String> settings() {
    String url = "http://127.0.0.1:" + server.port() + "/sse";
    return redis.gatewaySettings(
        "holdfast.upstream.url",
        url,
        "holdfast.upstreams.respawning.url",
        url,
        "holdfast.upstreams.respawning.transport",
        "sse",
        "holdfast.upstreams.respawning.respawn",
        "true");
  }

  @AfterAll
  static void stop() {
    two.close();
    one.close();
    server.close();
    redis.close();
  }

  private static String count(int id, int steps, int intervalMs) {
    return ToolRequest.count(id, steps, intervalMs);
  }

  private static String list(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"tools/list\"}";
  }

  @Test
  void shouldResumeACallThatWasCutAtAnyReplica() {
    McpClient here = McpClient.at(one.url(FOUND)).ready();
    McpClient there = here.elsewhere(two.url(FOUND));
    int id = 0;
    for (List<McpClient> way : List.of(List.of(here, there), List.of(there, here))) {
      id++;
      List<Frame.Event> events = new ArrayList<>();
      try (FrameStream stream = way.getFirst().stream(count(id, 20, 20))) {
        while (events.size() < 5) {
          add(events, stream.event());
        }
      }

      try (FrameStream rest = way.getLast().resume(events.getLast().id())) {
        rest.events().forEach(event -> add(events, event));
      }

      assertThat(events).hasSize(21);
      assertThat(IntStream.range(0, 20))
          .allSatisfy(
              i -> assertThat(events.get(i).data()).contains("\"progress\":" + (i + 1) + ","));
      assertThat(events.getLast().data()).contains("\"id\":" + id, "counted 20");
    }
    assertThat(there.delete().statusCode()).isEqualTo(204);
  }

  private static void add(List<Frame.Event> events, Frame.Event event) {
    if (!event.data().isEmpty()) {
      events.add(event);
    }
  }

  @Test
  void shouldBringTheAnswerOfAClientThroughAnyReplica() {
    McpClient here = McpClient.at(one.url(FOUND)).ready();
    McpClient there = here.elsewhere(two.url(FOUND));
    try (FrameStream stream =
        there.stream(ToolRequest.of(1, "test_elicitation", "{\"message\":\"m\"}"))) {
      Matcher asked = Pattern.compile("\"id\":([^,}]+)").matcher(stream.event().data());
      assertThat(asked.find()).as(stream.raw()).isTrue();

      String answer =
          "{\"jsonrpc\":\"2.0\",\"id\":" + asked.group(1) + ",\"result\":{\"action\":\"decline\"}}";
      assertThat(there.post(answer).statusCode()).isEqualTo(202);

      assertThat(stream.events().getLast().data()).contains("action=decline");
    }
  }

  @Test
  void shouldEndOrGoOnWhenTheServerIsRestarted() {
    McpClient ending = McpClient.at(one.url(FOUND)).ready();
    McpClient lasting = McpClient.at(two.url(RESPAWNING)).ready();
    try (FrameStream ended = ending.stream(count(1, 1000, 100));
        FrameStream lost = lasting.stream(count(1, 1000, 100))) {
      assertThat(ended.event().data()).contains("progress");
      assertThat(lost.event().data()).contains("progress");

      int port = server.port();
      server.close();
      server = NodeFixture.start(NodeFixture.LEGACY_SERVER, "--port", Integer.toString(port));

      for (FrameStream stream : List.of(ended, lost)) {
        assertThat(stream.events().getLast().data()).contains("\"id\":1", "-32000", "outcome");
      }
    }
    await().atMost(PATIENCE).until(() -> ending.post(list(2)).statusCode() == 404);
    await().atMost(PATIENCE).until(() -> lasting.post(list(2)).body().contains("\"tools\""));
    assertThat(McpClient.at(two.url(FOUND)).ready().post(list(1)).body()).contains("\"tools\"");
    assertThat(lasting.elsewhere(one.url(RESPAWNING)).stream(count(3, 2, 1)).events().getLast())
        .satisfies(last -> assertThat(last.data()).contains("counted 2"));
  }
}
