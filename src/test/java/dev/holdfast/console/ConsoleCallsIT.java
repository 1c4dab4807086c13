package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.ClusterFixture;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** States of real calls, as the console lists them. */
@Timeout(120)
class ConsoleCallsIT {

  private static final String LONG = "{\"from\":60,\"intervalMs\":100}";

  private static JsonNode get(Gateway gateway, String path) {
    try {
      RawAnswer answer =
          RawAnswer.to(gateway.url("/q/health").resolve("/console/" + path), "GET", Map.of());
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      return StatelessClient.json(answer.body());
    } catch (IOException unreachable) {
      throw new AssertionError(unreachable);
    }
  }

  private static JsonNode call(Gateway gateway, int index) {
    return get(gateway, "calls?sort=started").path("calls").path(index);
  }

  private static void awaitState(Gateway gateway, int index, String state) {
    await()
        .untilAsserted(() -> {
          JsonNode call = call(gateway, index);
          assertThat(call.path("state").asText()).as(call.toString()).isEqualTo(state);
        });
  }

  private static void awaitCalls(Gateway gateway, int count) {
    await()
        .untilAsserted(() -> {
          JsonNode calls = get(gateway, "calls");
          assertThat(calls.path("found").asInt()).as(calls.toString()).isEqualTo(count);
        });
  }

  private static JsonNode client(Gateway gateway, String name) {
    for (JsonNode client : get(gateway, "clients").path("clients")) {
      if (client.path("client").asText().equals(name)) {
        return client;
      }
    }
    throw new AssertionError("no client " + name);
  }

  private static List<String> steps(Gateway gateway, int index) {
    List<String> kinds = new ArrayList<>();
    get(gateway, "calls/" + call(gateway, index).path("key").asText())
        .path("steps")
        .forEach(step -> kinds.add(step.path("kind").asText()));
    return kinds;
  }

  @Test
  void shouldTellHeldCallsAndTasksFromThoseWithoutAClient() {
    try (Gateway gateway =
        Gateway.start(
            Map.of(
                "holdfast.demo-tools", "always",
                "holdfast.calls.hold-after", "1s",
                "holdfast.calls.task-after", "500ms"))) {
      McpClient client = McpClient.at(gateway.url(), McpClient.NEWEST, "agent").ready();
      String handle = handle(result(client.call("countdown", LONG)));
      awaitState(gateway, 0, "held");
      assertThat(steps(gateway, 0)).containsExactly("started", "connected", "held");

      StatelessClient other =
          StatelessClient.at(gateway.url())
              .capableOf("{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}");
      JsonNode task = other.ask("tools/call", StatelessClient.params("countdown", LONG));
      awaitState(gateway, 1, "task");
      assertThat(steps(gateway, 1)).containsExactly("started", "connected", "task");

      // The results are there, and nobody has them.
      awaitState(gateway, 0, "not fetched");
      awaitState(gateway, 1, "not fetched");
      assertThat(result(client.call("wait_for_result", "{\"handle\":\"%s\"}".formatted(handle))))
          .contains("liftoff");
      awaitState(gateway, 0, "finished");
      JsonNode result =
          other.ask("tasks/get", "{\"taskId\":\"" + task.at("/result/taskId").asText() + "\"}");
      assertThat(result.at("/result/status").asText()).isEqualTo("completed");
      awaitState(gateway, 1, "finished");
      JsonNode stateful = client(gateway, "agent/1");
      assertThat(stateful.path("version").asText()).isEqualTo("2025-11-25");
      assertThat(stateful.path("repairs").toString()).contains("1 calls answered with a handle");
      JsonNode stateless = client(gateway, "test/1");
      assertThat(stateless.path("version").asText()).isEqualTo("2026-07-28");
      assertThat(stateless.path("can").toString()).contains("tasks");
      assertThat(stateless.path("repairs").toString())
          .contains("1 sessions translated", "1 calls made tasks");
      JsonNode server = get(gateway, "servers").at("/servers/0");
      assertThat(server.path("revision").asText()).as(server.toString()).isEqualTo("2025-11-25");
      assertThat(server.path("sessions").asInt()).isEqualTo(2);
      assertThat(server.path("calls").asInt()).isEqualTo(2);
    }
  }

  /** No replica remembers a call, and nobody has looked before. */
  @Test
  void shouldListTheCallsOfReplicasThatAreGone() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      listTheCallsOfReplicasThatAreGone(redis.gatewaySettings());
    }
  }

  @Test
  void shouldListThemWithRedisCluster() throws Exception {
    try (ClusterFixture cluster = ClusterFixture.start()) {
      Map<String, String> settings = cluster.servers().getFirst().gatewaySettings();
      settings.put("quarkus.redis.hosts", cluster.hosts());
      settings.put("quarkus.redis.client-type", "cluster");
      listTheCallsOfReplicasThatAreGone(settings);
    }
  }

  private static void listTheCallsOfReplicasThatAreGone(Map<String, String> settings)
      throws Exception {
    settings.put("holdfast.demo-tools", "always");
    List<Gateway> before = Gateway.startPair(settings);
    try {
      runCalls(before.getFirst());
      before.getLast().kill();
      before.getFirst().terminate();
      assertThat(before.getFirst().awaitEnd(60)).isTrue();
    } finally {
      before.forEach(Gateway::close);
    }

    List<Gateway> after = Gateway.startPair(settings);
    try {
      Gateway one = after.getFirst();
      Gateway other = after.getLast();
      awaitCalls(one, 4);
      awaitCalls(other, 4);
      JsonNode states = get(other, "calls").path("states");
      assertThat(states.path("finished").asInt()).as(states.toString()).isEqualTo(3);
      assertThat(states.path("not fetched").asInt()).isEqualTo(1);
      JsonNode call = get(other, "calls?state=not+fetched").at("/calls/0");
      assertThat(call.path("tool").asText()).isEqualTo("countdown");
      RawAnswer result =
          RawAnswer.to(
              other
                  .url("/q/health")
                  .resolve("/console/calls/" + call.path("key").asText() + "/result"),
              "POST",
              Map.of("Content-Type", "application/json"),
              "{}");
      assertThat(result.body()).as(result.head()).contains("liftoff");

      // The other replica tells of servers that this one has met.
      McpClient _ = McpClient.at(one.url()).ready();
      await()
          .untilAsserted(() -> {
            JsonNode server = get(other, "servers").at("/servers/0");
            assertThat(server.path("sessions").asInt()).as(server.toString()).isEqualTo(1);
          });
    } finally {
      after.forEach(Gateway::close);
    }
  }

  /** Runs three calls, and one whose client leaves. */
  private static void runCalls(Gateway gateway) {
    McpClient client = McpClient.at(gateway.url()).ready();
    for (int i = 0; i < 3; i++) {
      assertThat(result(client.call("countdown", "{\"from\":1,\"intervalMs\":10}")))
          .contains("liftoff");
    }
    double unattended = unattended(gateway);
    String slow = "{\"from\":20,\"intervalMs\":100},\"_meta\":{\"progressToken\":\"p\"}";
    try (FrameStream left = client.call("countdown", slow)) {
      assertThat(left.event("progress")).isNotEmpty();
    }
    await().until(() -> unattended(gateway) > unattended);
  }

  /** Number of results that came without a client: the console must not be asked. */
  private static double unattended(Gateway gateway) {
    return gateway.metric("holdfast_results_total{kind=\"unattended\"").orElse(0);
  }

  private static String result(FrameStream call) {
    return call.rest().stream()
        .filter(frame -> frame instanceof Frame.Event event && event.data().contains("result"))
        .map(frame -> ((Frame.Event) frame).data())
        .findFirst()
        .orElseThrow();
  }

  /** The text names the tool and the handle: the last word of it. */
  private static String handle(String message) {
    String text = StatelessClient.json(message).at("/result/content/0/text").asText();
    return text.substring(text.lastIndexOf(' ') + 1);
  }
}
