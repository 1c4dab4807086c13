package dev.holdfast.agent;

import static dev.holdfast.agent.AgentClient.message;
import static dev.holdfast.agent.AgentClient.named;
import static dev.holdfast.agent.AgentClient.poll;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * Agents of two replicas. The test agent is a shell, and each prompt is the script that it runs.
 */
@Timeout(120)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class AgentSessionsIT {

  private static final String AGENTS = "/servers/agent/mcp";
  private static final String SLOW =
      """
      echo '{"type":"system","subtype":"init","session_id":"d-1"}'
      for i in 1 2 3 4 5 6; do
        echo '{"type":"tool_call","id":"c'$i'","toolName":"Read"}'
        echo '{"type":"message","role":"assistant","text":"step '$i'"}'
        sleep 0.1
      done
      """;

  private static RedisFixture redis;
  private static Gateway one;
  private static Gateway two;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    Map<String, String> settings = redis.gatewaySettings();
    settings.put("holdfast.agent.command", "sh -s --");
    settings.put("holdfast.agent.format", "droid");
    settings.put("holdfast.cluster.heartbeat", "200ms");
    settings.put("holdfast.cluster.dead-after", "1s");
    settings.put("holdfast.stream.max-events", "100");
    List<Gateway> pair = Gateway.startPair(settings);
    one = pair.getFirst();
    two = pair.getLast();
  }

  @AfterAll
  static void stop() {
    two.close();
    one.close();
    redis.close();
  }

  private static McpClient client() {
    McpClient client = McpClient.at(one.url(AGENTS)).ready();
    client.post(
        "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"logging/setLevel\",\"params\":"
            + "{\"level\":\"debug\"}}");
    return client;
  }

  private static JsonNode result(McpClient client, String tool, ObjectNode arguments) {
    Frame.Event last = client.call(tool, arguments.toString()).events().getLast();
    return AgentClient.parse(last.data().getBytes(UTF_8)).path("result");
  }

  /** Time for which the writer waits for a client that has left. */
  private static final Duration RETURN = Duration.ofSeconds(2);

  /** The id of the last event that {@link #read} has returned. */
  private String lastRead = "";

  private static List<JsonNode> pollToEnd(McpClient client, String name, long since) {
    List<JsonNode> events = new ArrayList<>();
    long index = since;
    while (events.isEmpty() || !AgentClient.isEnd(events.getLast())) {
      JsonNode result = result(client, "session_events", poll(name, index).put("wait_ms", 5000));
      assertThat(result.path("isError").asBoolean()).as(result.toString()).isFalse();
      result.at("/structuredContent/events").forEach(events::add);
      index = result.at("/structuredContent/next_since_index").asLong();
    }
    return events;
  }

  /** Reads events of agents, at most so many, or up to the end of the answer. */
  private List<JsonNode> read(FrameStream stream, int most) {
    List<JsonNode> events = new ArrayList<>();
    while (events.size() < most && (events.isEmpty() || !AgentClient.isEnd(events.getLast()))) {
      Frame.Event event = stream.event();
      lastRead = event.id();
      events.add(AgentClient.parse(event.data().getBytes(UTF_8)).at("/params/data"));
    }
    return events;
  }

  @Test
  @Order(1)
  void shouldStreamAndPollTheSameThroughAnyReplicaAndAcrossADisconnect() {
    McpClient client = client();
    McpClient other = client.elsewhere(two.url(AGENTS));
    FrameStream stream = client.listen();

    JsonNode started = result(other, "session_message", message(SLOW));
    List<JsonNode> streamed = read(stream, 4);
    // More may have arrived, which the client has not read.
    String lastEventId = lastRead;
    stream.close();
    List<JsonNode> polled = pollToEnd(other, "A1", 0);
    try (FrameStream again = other.resume(lastEventId)) {
      streamed.addAll(read(again, 1000));
    }

    assertThat(started.at("/structuredContent/session").asText()).isEqualTo("A1");
    assertThat(polled).hasSizeGreaterThan(15);
    assertThat(streamed).isEqualTo(polled);
    assertThat(pollToEnd(client, "A1", 0)).isEqualTo(polled);

    // With no stream open, events wait, for a poll as for a stream.
    result(client, "session_message", message(SLOW).put("session", "A1"));
    List<JsonNode> later = pollToEnd(client, "A1", polled.size());
    try (FrameStream late = other.listen()) {
      List<JsonNode> caughtUp = read(late, 1000);
      assertThat(caughtUp).isEqualTo(later);
    }
    client.delete();
  }

  @Test
  @Order(2)
  void shouldSayThatEventsWerePurgedBeforeTheReconnection() {
    McpClient client = client();
    FrameStream stream = client.listen();
    result(client, "session_message", message("echo begin"));
    assertThat(read(stream, 1)).isNotEmpty();
    String lastEventId = lastRead;
    stream.close();
    awaitIdle(client);
    // What a connected client has not received would stay. The writer waits for one that comes
    // back.
    String many = "i=0; while [ $i -lt 600 ]; do echo $i; i=$((i+1)); done";
    result(client, "session_message", message(many).put("session", "A1"));
    awaitIdle(client);
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(RETURN.multipliedBy(2))
        .until(() -> isRefused(client, lastEventId));

    JsonNode refused = result(client, "session_events", poll("A1", 1));

    String text = refused.at("/content/0/text").asText();
    assertThat(text).contains("purged", "since_index");
    long next = Long.parseLong(text.replaceAll(".*since_index (\\d+)\\.", "$1"));
    List<JsonNode> rest = pollToEnd(client, "A1", next);
    assertThat(rest.getFirst().path("index").asLong()).isEqualTo(next + 1);
    client.delete();
  }

  private static boolean isRefused(McpClient client, String lastEventId) {
    try (FrameStream resumed = client.resume(lastEventId)) {
      return resumed.status() == 410;
    }
  }

  private static void awaitIdle(McpClient client) {
    await()
        .until(() ->
            result(client, "session_list", AgentClient.arguments()).toString().contains("idle"));
  }

  @Test
  @Order(3)
  void shouldReportAnAgentThatWasLostWithItsReplica() {
    McpClient client = client();
    McpClient other = client.elsewhere(two.url(AGENTS));
    FrameStream stream = client.listen();
    result(client, "session_message", message(SLOW + "while true; do echo tick; sleep 0.05; done"));
    List<JsonNode> streamed = read(stream, 5);
    List<ProcessHandle> agents = ProcessHandle.of(one.pid()).orElseThrow().descendants().toList();
    assertThat(agents).isNotEmpty();

    assertThat(ProcessHandle.of(one.pid()).orElseThrow().destroyForcibly()).isTrue();

    List<JsonNode> polled = new ArrayList<>();
    await()
        .atMost(Duration.ofSeconds(20))
        .ignoreExceptions()
        .until(() -> {
          polled.clear();
          polled.addAll(pollToEnd(other, "A1", 0));
          return true;
        });
    try (FrameStream rest = other.resume(lastRead)) {
      List<JsonNode> after = read(rest, 1000);
      // The connection may have carried more than was read from it here.
      streamed.addAll(after);
    }
    assertThat(polled.getLast().path("type").asText()).isEqualTo("lost");
    assertThat(streamed).last().isEqualTo(polled.getLast());
    assertThat(polled).containsSubsequence(streamed);
    await().until(() -> agents.stream().noneMatch(ProcessHandle::isAlive));

    JsonNode again =
        result(other, "session_message", message("echo \"args=$*\"").put("session", "A1"));
    List<JsonNode> next =
        pollToEnd(other, "A1", again.at("/structuredContent/since_index").asLong());
    assertThat(next.toString()).contains("--session-id d-1");
    result(other, "session_close", named("A1"));
    other.delete();
  }
}
