package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import dev.holdfast.testing.ToolRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions of servers over stdio: their process is on one replica, and requests land on any. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class StdioAnyReplicaIT {

  /** Key prefix of its own, so that replicas of other tests do not take over these sessions. */
  private static final String APART = "apart:";

  private static final String SDK = "/mcp";
  private static final String EVERYTHING = "/servers/everything/mcp";
  private static final String RESPAWNING = "/servers/respawning/mcp";
  private static final String RECORDING = "/servers/recording/mcp";

  /** Until a lost replica is noticed, and what it had is settled. */
  private static final Duration TAKEN_OVER = Duration.ofSeconds(15);

  @TempDir private static Path directory;
  private static RedisFixture redis;
  private static Gateway one;
  private static Gateway two;

  @BeforeAll
  static void start() throws Exception {
    redis = RedisFixture.start();
    Path script = directory.resolve("record.sh");
    Files.writeString(
        script,
        """
        while IFS= read -r line; do
          printf '%s\\n' "$line" >> "$RECORD"
          case $line in
            *'"initialize"'*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25",\
        "capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}' ;;
          esac
        done
        """);
    List<Gateway> pair = Gateway.startPair(settings(Map.of()));
    one = pair.getFirst();
    two = pair.getLast();
  }

  private static Map<String, String> settings(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(more);
    all.putAll(redis.gatewaySettings());
    all.put("holdfast.upstream.command", NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO));
    all.put(
        "holdfast.upstreams.everything.command",
        NodeFixture.commandLine(NodeFixture.EVERYTHING, "stdio"));
    all.put(
        "holdfast.upstreams.respawning.command",
        NodeFixture.commandLine(NodeFixture.EVERYTHING, "stdio"));
    all.put("holdfast.upstreams.respawning.respawn", "true");
    all.put("holdfast.upstreams.recording.command", "/bin/sh " + directory.resolve("record.sh"));
    all.put("holdfast.upstreams.recording.environment.record", record().toString());
    return all;
  }

  private static Path record() {
    return directory.resolve("record");
  }

  @AfterAll
  static void stop() {
    two.close();
    one.close();
    redis.close();
  }

  private static String longCall(int id, int seconds) {
    return ToolRequest.of(
        id,
        "trigger-long-running-operation",
        "{\"duration\":%d,\"steps\":%d}".formatted(seconds, 4 * seconds));
  }

  private static String list(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"tools/list\"}";
  }

  private static void accept(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(202);
  }

  private static List<Frame.Event> events(FrameStream stream) {
    return stream.events().stream().filter(event -> !event.data().isEmpty()).toList();
  }

  private static List<ProcessHandle> children(Gateway gateway) {
    return ProcessHandle.of(gateway.pid()).stream()
        .flatMap(ProcessHandle::descendants)
        .filter(StdioAnyReplicaIT::runs)
        .toList();
  }

  /** An orphan that nobody waits for is alive to the system, but runs no program. */
  private static boolean runs(ProcessHandle process) {
    return process.isAlive() && process.info().command().isPresent();
  }

  /** As SIGKILL does it: what the gateway started must find out by itself. */
  private static void killAlone(Gateway gateway) {
    assertThat(ProcessHandle.of(gateway.pid()).orElseThrow().destroyForcibly()).isTrue();
  }

  @Test
  void shouldServeASessionOfOneProcessThroughAllReplicas() {
    try (Gateway three = Gateway.start(settings(Map.of()));
        RoundRobin balancer =
            RoundRobin.over(one.url(EVERYTHING), two.url(EVERYTHING), three.url(EVERYTHING))) {
      await().until(() -> children(one).isEmpty() && children(two).isEmpty());
      McpClient client = McpClient.at(balancer.url()).ready();
      List<ProcessHandle> processes =
          Stream.of(one, two, three).flatMap(each -> children(each).stream()).toList();
      for (int id = 1; id <= 6; id++) {
        FrameStream stream = client.stream(longCall(id, 1));

        List<Frame.Event> events = events(stream);

        assertThat(events).as(stream.raw()).hasSize(5);
        assertThat(events.getLast().data()).contains("\"id\":" + id, "\"result\"");
        assertThat(client.post(list(100 + id)).body())
            .contains("\"tools\"", "\"id\":" + (100 + id));
      }
      assertThat(processes).isNotEmpty().allMatch(StdioAnyReplicaIT::runs);
      assertThat(client.delete().statusCode()).isEqualTo(204);
      await().until(() -> processes.stream().noneMatch(StdioAnyReplicaIT::runs));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "test_sampling | {\"prompt\":\"p\"} | LLM response: yes",
        "test_elicitation | {\"message\":\"m\"} | User response: action=accept"
      })
  void shouldBringTheAnswerOfAClientThroughAnyReplica(
      String tool, String arguments, String result) {
    McpClient here = McpClient.at(one.url(SDK)).ready();
    McpClient there = here.elsewhere(two.url(SDK));
    int id = 0;
    for (List<McpClient> way :
        List.of(List.of(here, there), List.of(there, here), List.of(there, there))) {
      id++;
      try (FrameStream stream = way.getFirst().stream(ToolRequest.of(id, tool, arguments))) {
        Frame.Event asking = stream.event();
        Matcher asked = Pattern.compile("\"id\":([^,}]+)").matcher(asking.data());
        assertThat(asked.find()).as(stream.raw()).isTrue();

        accept(
            way.getLast()
                .post(
                    """
                    {"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"type":"text",\
                    "text":"yes"},"model":"m","role":"assistant"}}\
                    """
                        .formatted(asked.group(1))));

        assertThat(events(stream).getLast().data()).contains(result);
      }
    }
    assertThat(there.delete().statusCode()).isEqualTo(204);
  }

  @Test
  void shouldCancelThroughAnyReplica() {
    McpClient here = McpClient.at(one.url(EVERYTHING)).ready();
    McpClient there = here.elsewhere(two.url(EVERYTHING));
    int id = 0;
    for (List<McpClient> way :
        List.of(List.of(here, there), List.of(there, here), List.of(there, there))) {
      id++;
      try (FrameStream stream = way.getFirst().stream(longCall(id, 60))) {
        assertThat(stream.event().data()).contains("progress");

        accept(
            way.getLast()
                .post(
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                        + "{\"requestId\":%d}}".formatted(id)));

        assertThat(events(stream)).allMatch(event -> event.data().contains("progress"));
      }
    }
    assertThat(there.delete().statusCode()).isEqualTo(204);
  }

  @Test
  void shouldKeepTheOrderOfWhatWasAccepted() throws Exception {
    McpClient here = McpClient.at(one.url(RECORDING));
    McpClient there = here.elsewhere(two.url(RECORDING));
    List<String> sent = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      String message = "{\"jsonrpc\":\"2.0\",\"method\":\"n" + i + "\"}";
      // Not strictly in turn, so that each follows each.
      accept((i % 3 == 0 ? here : there).post(message));
      sent.add(message);
    }

    await().until(() -> Files.readAllLines(record()).size() == sent.size() + 1);
    List<String> received = Files.readAllLines(record());
    assertThat(received.subList(1, received.size())).isEqualTo(sent);
    assertThat(there.delete().statusCode()).isEqualTo(204);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldEndOrContinueElsewhereWhenItsReplicaIsKilled(boolean respawn) {
    Map<String, String> settings =
        Map.of(
            "holdfast.redis.prefix",
            APART,
            "holdfast.upstreams.everything.respawn",
            Boolean.toString(respawn));
    List<Gateway> pair = Gateway.startPair(settings(settings));
    try (Gateway first = pair.getFirst();
        Gateway second = pair.getLast()) {
      McpClient here = McpClient.at(first.url(EVERYTHING)).ready();
      McpClient there = here.elsewhere(second.url(EVERYTHING));
      List<ProcessHandle> lost = children(first);
      try (FrameStream stream = there.stream(longCall(1, 60))) {
        assertThat(stream.event().data()).contains("progress");

        killAlone(first);

        List<Frame.Event> events = events(stream);
        assertThat(events.getLast().data())
            .as(second.output())
            .contains("\"id\":1", "-32000", "outcome");
      }
      if (respawn) {
        await()
            .atMost(TAKEN_OVER)
            .untilAsserted(() ->
                assertThat(there.post(list(2)).body()).as(second.output()).contains("\"tools\""));
        assertThat(children(second)).isNotEmpty();
        assertThat(events(there.stream(longCall(3, 1)))).hasSize(5);
      } else {
        await().atMost(TAKEN_OVER).until(() -> there.post(list(2)).statusCode() == 404);
        assertThat(children(second)).isEmpty();
      }
      await().until(() -> lost.stream().noneMatch(StdioAnyReplicaIT::runs));
    }
  }

  @Test
  void shouldGoOnWithANewProcessWhenItsOwnIsKilled() {
    McpClient here = McpClient.at(one.url(RESPAWNING)).ready();
    McpClient there = here.elsewhere(two.url(RESPAWNING));
    try (FrameStream stream = there.stream(longCall(1, 60))) {
      assertThat(stream.event().data()).contains("progress");

      children(one).forEach(ProcessHandle::destroyForcibly);

      assertThat(events(stream).getLast().data()).contains("\"id\":1", "-32000", "outcome");
    }
    await().atMost(TAKEN_OVER).until(() -> there.post(list(2)).body().contains("\"tools\""));
    assertThat(events(here.stream(longCall(3, 1)))).hasSize(5);
    assertThat(there.delete().statusCode()).isEqualTo(204);
  }

  @Test
  void shouldContinueElsewhereWhenItsReplicaStops() throws Exception {
    Map<String, String> settings =
        Map.of(
            "holdfast.redis.prefix", APART,
            "holdfast.upstreams.everything.respawn", "true",
            "holdfast.stream.drain-timeout", "1s");
    List<Gateway> pair = Gateway.startPair(settings(settings));
    try (Gateway first = pair.getFirst();
        Gateway second = pair.getLast()) {
      McpClient here = McpClient.at(first.url(EVERYTHING)).ready();
      McpClient there = here.elsewhere(second.url(EVERYTHING));
      try (FrameStream stream = there.stream(longCall(1, 60))) {
        assertThat(stream.event().data()).contains("progress");

        first.terminate();

        assertThat(events(stream).getLast().data()).contains("\"id\":1", "-32000", "outcome");
      }
      await().atMost(TAKEN_OVER).until(() -> there.post(list(2)).body().contains("\"tools\""));
      assertThat(first.awaitEnd(30)).isTrue();
    }
  }
}
