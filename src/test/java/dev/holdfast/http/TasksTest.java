package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.http.JobTool.Step;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.StatelessClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks calls that run for longer than {@code calls.task-after}. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Tasks.class)
class TasksTest {

  private static final String EXTENSION = "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}";
  private static final String CAPABILITIES = "{\"elicitation\":{}," + EXTENSION + "}";

  @Inject JobTool jobs;

  private final String key = UUID.randomUUID().toString();

  @SuppressWarnings("NullAway.Init")
  private StatelessClient client;

  @BeforeEach
  void connect() {
    client = StatelessClient.at(GatewayUrl.mcp()).capableOf(CAPABILITIES);
  }

  private String job() {
    return StatelessClient.params("job", "{\"key\":\"" + key + "\"}");
  }

  /** Starts a job that becomes a task. Returns its id. */
  private String start() {
    JsonNode task = client.ask("tools/call", job()).path("result");
    assertThat(task.path("resultType").asText()).as(task.toString()).isEqualTo("task");
    assertThat(task.path("status").asText()).isEqualTo("working");
    return task.path("taskId").asText();
  }

  private static String named(String id) {
    return "{\"taskId\":\"" + id + "\"}";
  }

  private JsonNode get(String id) {
    return client.ask("tasks/get", named(id));
  }

  private JsonNode awaitStatus(String id, String status) {
    List<JsonNode> seen = new ArrayList<>();
    await()
        .untilAsserted(() -> {
          seen.add(get(id));
          assertThat(seen.getLast().at("/result/status").asText())
              .as(seen.getLast().toString())
              .isEqualTo(status);
        });
    return seen.getLast().path("result");
  }

  private JsonNode update(String id, String answers) {
    return client.ask(
        "tasks/update", "{\"taskId\":\"%s\",\"inputResponses\":%s}".formatted(id, answers));
  }

  private static String answer(String question, String name) {
    return "{\"%s\":{\"action\":\"accept\",\"content\":{\"name\":\"%s\"}}}"
        .formatted(question, name);
  }

  private static List<String> questions(JsonNode task) {
    List<String> keys = new ArrayList<>();
    task.path("inputRequests").fieldNames().forEachRemaining(keys::add);
    return keys;
  }

  @Test
  void shouldSayThatItMakesTasks() {
    JsonNode capabilities = client.ask("server/discover", "{}").at("/result/capabilities");

    assertThat(capabilities.path("extensions").has("io.modelcontextprotocol/tasks")).isTrue();
    assertThat(capabilities.has("tasks")).isFalse();
  }

  @Test
  void shouldMakeATaskOfALongCall() {
    JsonNode task = client.ask("tools/call", job()).path("result");

    assertThat(task.properties().stream().map(each -> each.getKey()))
        .containsExactlyInAnyOrder(
            "resultType",
            "taskId",
            "status",
            "createdAt",
            "lastUpdatedAt",
            "ttlMs",
            "pollIntervalMs");
    assertThat(task.path("ttlMs").isIntegralNumber()).isTrue();
    assertThat(task.path("ttlMs").asLong()).isGreaterThanOrEqualTo(3_600_000);
    String id = task.path("taskId").asText();
    assertThat(get(id).at("/result/status").asText()).isEqualTo("working");

    jobs.go(key, Step.FINISH);

    JsonNode done = awaitStatus(id, "completed");
    assertThat(done.path("resultType").asText()).isEqualTo("complete");
    assertThat(done.at("/result/content/0/text").asText()).isEqualTo("done");
    assertThat(done.path("taskId").asText()).isEqualTo(id);
    // As often as the client likes.
    assertThat(get(id).at("/result/status").asText()).isEqualTo("completed");
  }

  @Test
  void shouldAnswerAShortCallAtOnce() {
    jobs.go(key, Step.FINISH);

    JsonNode result = client.ask("tools/call", job()).path("result");

    assertThat(result.path("resultType").asText()).isEqualTo("complete");
    assertThat(result.at("/content/0/text").asText()).isEqualTo("done");
  }

  @Test
  void shouldTellErrorsOfAToolFromFailedCalls() {
    String reported = start();
    jobs.go(key, Step.REPORT_AN_ERROR);
    JsonNode error = awaitStatus(reported, "completed");
    assertThat(error.at("/result/isError").asBoolean()).isTrue();

    String failed = start();
    jobs.go(key, Step.FAIL);
    JsonNode failure = awaitStatus(failed, "failed");
    assertThat(failure.at("/error/code").asInt()).isEqualTo(-32021);
    assertThat(failure.has("result")).isFalse();
  }

  @Test
  void shouldPassQuestionsOnAndAnswersBackOnce() {
    String id = start();
    jobs.go(key, Step.ASK_TWICE);
    await().untilAsserted(() -> assertThat(questions(get(id).path("result"))).hasSize(2));
    JsonNode asked = awaitStatus(id, "input_required");
    List<String> keys = questions(asked);
    assertThat(asked.path("inputRequests").path(keys.getFirst()).path("method").asText())
        .isEqualTo("elicitation/create");

    JsonNode ack = update(id, answer(keys.getFirst(), "Ada")).path("result");

    assertThat(ack.properties()).hasSize(1);
    assertThat(ack.path("resultType").asText()).isEqualTo("complete");
    assertThat(questions(get(id).path("result"))).containsExactly(keys.getLast());
    update(id, answer(keys.getFirst(), "Bob"));
    update(id, answer(keys.getLast(), "Eve"));
    jobs.go(key, Step.FINISH);
    assertThat(awaitStatus(id, "completed").at("/result/content/0/text").asText())
        .contains("Ada", "Eve")
        .doesNotContain("Bob");
  }

  /** Requests made before belong to the call, and not to the task. */
  @Test
  void shouldBecomeATaskAfterARoundOfQuestions() {
    jobs.go(key, Step.ASK);
    JsonNode asked = client.ask("tools/call", job());
    assertThat(asked.at("/result/resultType").asText()).isEqualTo("input_required");

    JsonNode task =
        client
            .ask(
                "tools/call",
                StatelessClient.answered(
                    job(), asked, "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}"))
            .path("result");

    assertThat(task.path("resultType").asText()).as(task.toString()).isEqualTo("task");
    assertThat(task.has("requestState")).isFalse();
    String id = task.path("taskId").asText();
    assertThat(get(id).at("/result/status").asText()).isEqualTo("working");
    jobs.go(key, Step.FINISH);
    assertThat(awaitStatus(id, "completed").at("/result/content/0/text").asText())
        .isEqualTo("done Ada");
  }

  @Test
  void shouldCancel() {
    String id = start();

    JsonNode ack = client.ask("tasks/cancel", named(id)).path("result");

    assertThat(ack.properties()).hasSize(1);
    awaitStatus(id, "cancelled");
    assertThat(client.ask("tasks/cancel", named(id)).path("result")).isEqualTo(ack);
  }

  @Test
  void shouldNotifyASubscriber() {
    String id = start();
    FrameStream listening =
        client.stream(
            "subscriptions/listen",
            "{\"notifications\":{\"taskIds\":[\"" + id + "\",\"unknown\"]}}");
    JsonNode honoured = StatelessClient.json(listening.event().data());
    assertThat(honoured.at("/params/notifications/taskIds").toString())
        .isEqualTo("[\"" + id + "\"]");
    JsonNode first = StatelessClient.json(listening.event().data());
    assertThat(first.path("method").asText()).isEqualTo("notifications/tasks");
    assertThat(first.at("/params/status").asText()).isEqualTo("working");

    jobs.go(key, Step.ASK);
    JsonNode asked = StatelessClient.json(listening.event().data()).path("params");
    assertThat(asked.path("status").asText()).isEqualTo("input_required");
    update(id, answer(questions(asked).getFirst(), "Ada"));
    jobs.go(key, Step.FINISH);

    JsonNode next = StatelessClient.json(listening.event().data()).path("params");
    if (next.path("status").asText().equals("working")) {
      next = StatelessClient.json(listening.event().data()).path("params");
    }
    assertThat(next.path("taskId").asText()).isEqualTo(id);
    assertThat(next.at("/result/content/0/text").asText()).isEqualTo("done Ada");
    listening.close();
  }

  @Test
  void shouldBoundTheTasksOfASubscription() {
    String ids = "\"a\",".repeat(100) + "\"a\"";

    HttpResponse<String> refusal =
        client.post("subscriptions/listen", "{\"notifications\":{\"taskIds\":[" + ids + "]}}");

    assertThat(refusal.body()).contains("-32602", "at most 100 tasks");
  }

  @ParameterizedTest
  @ValueSource(strings = {"tasks/get", "tasks/update", "tasks/cancel"})
  void shouldNotKnowTasksThatItDidNotMake(String method) {
    String id = start();
    char changed = id.charAt(9) == 'A' ? 'B' : 'A';

    for (String unknown : List.of(id.substring(0, 9) + changed + id.substring(10), "x")) {
      JsonNode refusal = client.ask(method, named(unknown));
      assertThat(refusal.at("/error/code").asInt()).as(refusal.toString()).isEqualTo(-32602);
    }
    // Of another upstream.
    JsonNode refusal =
        StatelessClient.at(GatewayUrl.mcp("scripted"))
            .capableOf(CAPABILITIES)
            .ask(method, named(id));
    assertThat(refusal.at("/error/code").asInt()).as(refusal.toString()).isEqualTo(-32602);
    jobs.go(key, Step.FINISH);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tasks/get", "tasks/update", "tasks/cancel"})
  void shouldWantTheExtension(String method) {
    HttpResponse<String> refusal = client.capableOf("{}").post(method, named("x"));

    assertThat(refusal.statusCode()).isEqualTo(400);
    assertThat(refusal.body()).contains("-32021", "{\"requiredCapabilities\":{" + EXTENSION + "}}");
  }

  @Test
  void shouldHoldTheCallOfAClientWithoutTasks() {
    JsonNode held = client.capableOf("{}").ask("tools/call", job());

    assertThat(held.at("/result/content/0/text").asText()).contains("wait_for_result");
    jobs.go(key, Step.FINISH);
  }
}
