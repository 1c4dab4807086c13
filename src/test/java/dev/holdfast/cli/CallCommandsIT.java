package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ProcessResult;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs the commands about calls beside gateways on the same Redis. */
@Timeout(180)
class CallCommandsIT {

  private static final String INITIALIZED =
      """
      {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},\
      "serverInfo":{"name":"silent","version":"1"}}}\
      """;

  private static RedisFixture redis;
  private static ScriptedServer silent;
  private static Gateway gateway;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    silent = ScriptedServer.playing(CallCommandsIT::answer);
    gateway = Gateway.start(settings(redis));
  }

  @AfterAll
  static void stop() {
    gateway.close();
    silent.close();
    redis.close();
  }

  /** Never answers a call. */
  private static void answer(ScriptedRequest request, RawConnection wire) throws IOException {
    if (request.body().contains("\"initialize\"")) {
      wire.answer(200, "application/json", INITIALIZED);
    } else if (!request.body().contains("tools/call")) {
      wire.answer(request.method().equals("GET") ? 405 : 202, "text/plain", "");
    }
  }

  private static Map<String, String> settings(RedisFixture store) {
    return store.gatewaySettings("holdfast.upstreams.silent.url", silent.url().toString());
  }

  /** Begins a call of some minutes, and waits for its first message. Returns its id. */
  private static String longCall(McpClient client, List<FrameStream> streams) {
    FrameStream call =
        client.stream(
            """
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"countdown",\
            "arguments":{"from":3000,"intervalMs":100},"_meta":{"progressToken":"count"}}}\
            """);
    call.event();
    streams.add(call);
    return id(client, call);
  }

  private static String id(McpClient client, FrameStream call) {
    String event = call.lastEventId();
    return client.session() + "_" + event.substring(0, event.indexOf('_'));
  }

  private static ProcessResult run(RedisFixture store, String... words) {
    List<String> all = new ArrayList<>(Arrays.asList(words));
    all.addAll(List.of("--store", store.url()));
    return PackagedProgram.run(all.toArray(String[]::new));
  }

  private static List<JsonNode> calls(RedisFixture store, String... options) {
    List<String> words = new ArrayList<>(List.of("calls", "--json"));
    words.addAll(Arrays.asList(options));
    ProcessResult listed = run(store, words.toArray(String[]::new));
    assertThat(listed.exitCode()).as(listed.toString()).isZero();
    return listed.stdout().lines().map(StatelessClient::json).toList();
  }

  private static JsonNode find(RedisFixture store, String call) {
    return calls(store).stream()
        .filter(each -> each.path("call").asText().equals(call))
        .findFirst()
        .orElseGet(() -> StatelessClient.json("{}"));
  }

  /** Each look is a process of its own, which takes processors from what is waited for. */
  private static ConditionFactory awaitCalls() {
    return await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofSeconds(2));
  }

  @Test
  void shouldListCallsAndPrintTheirResults() {
    Instant before = Instant.now().minus(Duration.ofSeconds(1));
    McpClient client = McpClient.at(gateway.url()).ready();
    List<FrameStream> streams = new ArrayList<>();
    FrameStream brief = client.call("countdown", "{\"from\":2,\"intervalMs\":10}");
    brief.rest();
    String done = id(client, brief);
    String running = longCall(McpClient.at(gateway.url()).ready(), streams);

    awaitCalls().until(() -> find(redis, done).path("delivered").asBoolean());
    JsonNode finished = find(redis, done);
    JsonNode runs = find(redis, running);
    assertThat(finished.path("tool").asText()).isEqualTo("countdown");
    assertThat(finished.path("state").asText()).isEqualTo("finished");
    assertThat(finished.path("server").asText()).isEqualTo("default");
    assertThat(finished.path("keptForSeconds").asLong()).isPositive();
    assertThat(Instant.parse(finished.path("started").asText())).isBetween(before, Instant.now());
    assertThat(runs.path("state").asText()).isEqualTo("running");
    assertThat(runs.path("replica").asText()).isNotEmpty();
    assertThat(runs.path("connected").asBoolean()).isTrue();
    assertThat(calls(redis, "--state", "running", "--tool", "countdown"))
        .extracting(each -> each.path("call").asText())
        .contains(running)
        .doesNotContain(done);
    assertThat(calls(redis, "--older-than", "1d")).isEmpty();
    assertThat(calls(redis, "--server", "silent", "--tool", "countdown")).isEmpty();

    ProcessResult result = run(redis, "result", done);
    ProcessResult none = run(redis, "result", running, "--json");
    ProcessResult unknown = run(redis, "result", running + "x");

    assertThat(result.exitCode()).as(result.toString()).isZero();
    assertThat(result.stdout()).isEqualTo("liftoff\n");
    assertThat(none.exitCode()).as(none.toString()).isEqualTo(4);
    assertThat(StatelessClient.json(none.stdout()).path("state").asText()).isEqualTo("running");
    assertThat(unknown.exitCode()).as(unknown.toString()).isEqualTo(1);
    assertThat(unknown.stderr()).contains("There is no such call");
    streams.forEach(FrameStream::cut);
  }

  @Test
  void shouldCancelCallsAndAnswerTheirClients() {
    McpClient client = McpClient.at(gateway.url()).ready();
    List<FrameStream> streams = new ArrayList<>();
    String local = longCall(client, streams);
    McpClient other = McpClient.at(gateway.url("/servers/silent/mcp")).ready();
    FrameStream waiting = other.call("anything", "{}");
    waiting.next(); // The priming event.
    String remote = id(other, waiting);

    ProcessResult cancelled = run(redis, "cancel", local);
    ProcessResult there = run(redis, "cancel", remote, "--json");
    ProcessResult again = run(redis, "cancel", local);

    assertThat(cancelled.exitCode()).as(cancelled.toString()).isZero();
    assertThat(cancelled.stdout()).isEqualTo("The call is cancelled.\n");
    assertThat(there.exitCode()).as(there.toString()).isZero();
    assertThat(again.exitCode()).as(again.toString()).isEqualTo(1);
    assertThat(again.stderr()).contains("has ended already");
    streams.getFirst().rest();
    assertThat(streams.getFirst().raw()).contains("-32800", "operator");
    waiting.rest();
    assertThat(waiting.raw()).contains("-32800");
    await()
        .until(() ->
            silent.requests().stream()
                .anyMatch(each ->
                    each.body().contains("notifications/cancelled")
                        && each.body().contains("operator")));
    assertThat(find(redis, local).path("state").asText()).isEqualTo("cancelled");
    ProcessResult result = run(redis, "result", local, "--wait");
    assertThat(result.exitCode()).as(result.toString()).isEqualTo(1);
    assertThat(result.stderr()).contains("was cancelled");
  }

  /** The replica that takes over ends what the lost one ran. */
  @Test
  void shouldTellWhatBecomesOfTheCallsOfALostReplica() {
    try (RedisFixture store = RedisFixture.start()) {
      String left;
      String cancelled;
      try (Gateway lost = Gateway.start(settings(store))) {
        List<FrameStream> streams = new ArrayList<>();
        left = longCall(McpClient.at(lost.url()).ready(), streams);
        cancelled = longCall(McpClient.at(lost.url()).ready(), streams);
        lost.kill();
      }
      assertThat(find(store, left).path("state").asText()).isEqualTo("running");

      ProcessResult cancel = run(store, "cancel", cancelled);

      assertThat(cancel.exitCode()).as(cancel.toString()).isEqualTo(4);
      assertThat(cancel.stderr()).contains("has not ended the call yet");
      try (Gateway _ = Gateway.start(settings(store))) {
        awaitCalls().until(() -> find(store, cancelled).path("state").asText().equals("cancelled"));
        awaitCalls().until(() -> find(store, left).path("state").asText().equals("failed"));
        ProcessResult failed = run(store, "result", left);
        assertThat(failed.exitCode()).as(failed.toString()).isOne();
        assertThat(failed.stderr()).contains("The call failed", "unknown");
      }
    }
  }
}
