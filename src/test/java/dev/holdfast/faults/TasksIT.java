package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.faults.server.CountingServer;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.StatelessClient;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls that become tasks, and whose replica is killed. In the long form, such a call takes a
 * minute.
 */
@Timeout(300)
class TasksIT {

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int STEPS = LongRun.REQUESTED ? 600 : 50;

  private static Map<String, String> settings(URI server, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("holdfast.upstream.url", server.toString());
    settings.put("holdfast.calls.task-after", "300ms");
    return settings;
  }

  private static StatelessClient client(Gateway gateway) {
    return StatelessClient.at(gateway.url())
        .capableOf("{\"elicitation\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}");
  }

  private static String start(StatelessClient client, String tool, String arguments) {
    JsonNode task = client.ask("tools/call", StatelessClient.params(tool, arguments));
    assertThat(task.at("/result/resultType").asText()).as(task.toString()).isEqualTo("task");
    return "{\"taskId\":\"" + task.at("/result/taskId").asText() + "\"}";
  }

  private static JsonNode awaitStatus(StatelessClient client, String task, String status) {
    AtomicReference<JsonNode> last = new AtomicReference<>();
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> {
          JsonNode state = client.ask("tasks/get", task).path("result");
          last.set(state);
          assertThat(state.path("status").asText()).as(state.toString()).isEqualTo(status);
        });
    return last.get();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldTellWhatHasBecomeOfACallWhoseReplicaWasKilled(boolean resumable) {
    try (RedisFixture redis = RedisFixture.start();
        CountingServer server = CountingServer.start(resumable)) {
      Map<String, String> settings = settings(server.url(), redis.gatewaySettings());
      try (Gateway one = Gateway.start(settings);
          Gateway two = Gateway.start(settings);
          Gateway three = Gateway.start(settings)) {
        String task = start(client(one), "count", "{\"n\":%d,\"intervalMs\":100}".formatted(STEPS));
        StatelessClient other = client(two);
        FrameStream listening =
            other.stream(
                "subscriptions/listen",
                "{\"notifications\":{\"taskIds\":[%s]}}"
                    .formatted(StatelessClient.json(task).path("taskId")));
        awaitStatus(other, task, "working");

        one.kill();

        JsonNode end = awaitStatus(other, task, resumable ? "completed" : "failed");
        if (resumable) {
          assertThat(end.at("/result/content").toString())
              .as(end.toString())
              .isEqualTo(CountingServer.counted(STEPS));
        } else {
          assertThat(end.at("/error/message").asText()).as(end.toString()).contains("unknown");
        }
        assertThat(client(three).ask("tasks/get", task).path("result")).isEqualTo(end);
        assertThat(server.repeatedCalls()).isEmpty();
        String status = "";
        while (!status.equals(end.path("status").asText())) {
          status = StatelessClient.json(listening.event().data()).at("/params/status").asText();
        }
        listening.close();
      }
    }
  }

  /** The gateway makes no tasks of its calls. */
  @Test
  void shouldHoldACallOfAServerWithoutSessions() {
    try (NodeFixture server = NodeFixture.start("era/server.mjs");
        Gateway gateway =
            Gateway.start(settings(server.url(), Map.of("holdfast.calls.hold-after", "1s")))) {
      JsonNode answer =
          client(gateway)
              .ask("tools/call", StatelessClient.params("count", "{\"n\":50,\"intervalMs\":100}"));

      assertThat(answer.at("/result/content/0/text").asText())
          .as(answer.toString())
          .contains("still running");
    }
  }

  /** Its place went to later calls of the same client. */
  @Test
  void shouldNotKnowATaskWhoseResultWasRemoved() {
    try (CountingServer server = CountingServer.start(true);
        Gateway gateway =
            Gateway.start(
                settings(
                    server.url(),
                    Map.of(
                        "holdfast.log.session-bytes",
                        "2K",
                        "holdfast.eras.share-anonymous-sessions",
                        "true")))) {
      StatelessClient client = client(gateway);
      String task = start(client, "count", "{\"n\":5,\"intervalMs\":100}");
      awaitStatus(client, task, "completed");

      String last = task;
      for (int i = 0; i < 12; i++) {
        last = start(client, "count", "{\"n\":5,\"intervalMs\":100}");
      }
      awaitStatus(client, last, "completed");

      JsonNode answer = client.ask("tasks/get", task);
      assertThat(answer.at("/error/code").asInt()).as(answer.toString()).isEqualTo(-32602);
    }
  }

  @Test
  void shouldAnswerQuestionsAtAnotherReplica() {
    try (RedisFixture redis = RedisFixture.start();
        NodeFixture server = NodeFixture.start("conformance-server.mjs")) {
      Map<String, String> settings = settings(server.url(), redis.gatewaySettings());
      try (Gateway one = Gateway.start(settings);
          Gateway two = Gateway.start(settings)) {
        String task = start(client(one), "confirm_delete", "{\"filename\":\"a\"}");
        StatelessClient other = client(two);
        JsonNode asked = awaitStatus(other, task, "input_required");
        String key = asked.path("inputRequests").fieldNames().next();
        String id = StatelessClient.json(task).path("taskId").toString();

        JsonNode ack =
            other.ask(
                "tasks/update",
                "{\"taskId\":%s,\"inputResponses\":{\"%s\":{\"action\":\"decline\"}}}"
                    .formatted(id, key));

        assertThat(ack.at("/result/resultType").asText()).isEqualTo("complete");
        assertThat(awaitStatus(client(one), task, "completed").toString()).contains("a: decline");
      }
    }
  }
}
