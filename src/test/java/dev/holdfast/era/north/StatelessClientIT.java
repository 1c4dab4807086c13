package dev.holdfast.era.north;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.StatelessClient;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients without a session, at servers with sessions and at two replicas. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class StatelessClientIT {

  private static final String GREET = StatelessClient.params("greet", "{}");
  private static final String ADA = "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}";
  private static final String SDK = "/servers/sdk/mcp";

  private static RedisFixture redis;
  private static NodeFixture sdk;
  private static Gateway one;
  private static Gateway two;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    sdk = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    one = gateway(Map.of());
    two = gateway(Map.of());
  }

  private static Gateway gateway(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.putAll(redis.gatewaySettings());
    settings.put("holdfast.upstreams.sdk.url", sdk.url().toString());
    return Gateway.start(settings);
  }

  @AfterAll
  static void stop() {
    two.close();
    one.close();
    sdk.close();
    redis.close();
  }

  private static String nextRound(JsonNode asked) {
    return StatelessClient.answered(GREET, asked, ADA);
  }

  private static JsonNode ask(StatelessClient client) {
    JsonNode asked = client.ask("tools/call", GREET);
    assertThat(asked.at("/result/resultType").asText())
        .as(asked.toString())
        .isEqualTo("input_required");
    return asked;
  }

  @Test
  void shouldGoOnWithACallAtAnotherReplica() {
    StatelessClient here = StatelessClient.at(one.url());
    JsonNode asked = ask(here);

    JsonNode done = here.elsewhere(two.url()).ask("tools/call", nextRound(asked));

    assertThat(done.at("/result/content/0/text").asText()).as(done.toString()).contains("Ada");
    assertThat(done.path("id").asInt()).isEqualTo(here.lastId());
  }

  @Test
  void shouldGiveAnswersToAServerOnce() {
    StatelessClient client = StatelessClient.at(one.url());
    JsonNode asked = ask(client);
    String round = nextRound(asked);
    JsonNode first = client.ask("tools/call", round);

    JsonNode again = client.elsewhere(two.url()).ask("tools/call", round.replace("Ada", "Bob"));

    assertThat(first.at("/result/content/0/text").asText()).contains("Ada");
    assertThat(again.path("result")).as(again.toString()).isEqualTo(first.path("result"));
  }

  @Test
  void shouldRefuseStatesThatItDidNotIssueForTheRequest() {
    StatelessClient client = StatelessClient.at(one.url());
    String round = nextRound(ask(client));
    int end = round.indexOf("\",\"inputResponses");
    char last = round.charAt(end - 8);
    String forged =
        round.substring(0, end - 8) + (last == 'A' ? 'B' : 'A') + round.substring(end - 7);
    String otherArguments = round.replace("\"arguments\":{}", "\"arguments\":{\"name\":\"x\"}");

    for (String refused : List.of(forged, otherArguments)) {
      JsonNode answer = client.ask("tools/call", refused);
      assertThat(answer.at("/error/code").asInt()).as(answer.toString()).isEqualTo(-32602);
    }
    JsonNode otherUpstream = client.elsewhere(one.url(SDK)).ask("tools/call", round);
    assertThat(otherUpstream.at("/error/code").asInt()).isEqualTo(-32602);
    assertThat(client.ask("tools/call", round).at("/result/content/0/text").asText())
        .contains("Ada");
    String state = StatelessClient.json(round).path("requestState").asText();
    assertThat(one.output() + two.output()).doesNotContain(state);
  }

  @Test
  void shouldTellOfChangesOfAList() {
    StatelessClient client = StatelessClient.at(one.url(SDK));
    FrameStream listening =
        client.stream("subscriptions/listen", "{\"notifications\":{\"toolsListChanged\":true}}");
    int id = client.lastId();

    JsonNode acknowledged = StatelessClient.json(listening.event().data());

    assertThat(acknowledged.path("method").asText())
        .isEqualTo("notifications/subscriptions/acknowledged");
    assertThat(acknowledged.at("/params/notifications/toolsListChanged").asBoolean()).isTrue();
    assertThat(
            acknowledged.at("/params/_meta").path("io.modelcontextprotocol/subscriptionId").asInt())
        .isEqualTo(id);
    listening.cut();
  }

  @Test
  void shouldResumeACallByTheIdOfAnEvent() {
    try (Gateway resumable = gateway(Map.of("holdfast.eras.event-ids", "true"));
        Gateway other = gateway(Map.of("holdfast.eras.event-ids", "true"))) {
      StatelessClient client = StatelessClient.at(resumable.url());
      FrameStream call = client.call("countdown", "{\"from\":30,\"intervalMs\":50}");
      Frame.Event first = call.event();
      call.cut();

      List<Frame.Event> rest = client.elsewhere(other.url()).resume(first.id()).events();

      assertThat(rest).hasSize(30);
      JsonNode last = StatelessClient.json(rest.getLast().data());
      assertThat(last.path("id").asInt()).isEqualTo(client.lastId());
      assertThat(last.at("/result/content/0/text").asText()).isEqualTo("liftoff");
    }
  }

  /** It may be cut just when the end is on its way. */
  @Test
  void shouldResumeACallThatHasEnded() {
    try (Gateway resumable = gateway(Map.of("holdfast.eras.event-ids", "true"))) {
      StatelessClient client = StatelessClient.at(resumable.url());
      List<Frame.Event> all = client.call("countdown", "{\"from\":2,\"intervalMs\":50}").events();
      assertThat(StatelessClient.json(all.getLast().data()).has("result")).isTrue();

      client.ask("tools/call", StatelessClient.params("echo", "{\"message\":\"later\"}"));
      List<Frame.Event> rest = client.resume(all.getFirst().id()).events();

      assertThat(rest)
          .map(Frame.Event::id)
          .isEqualTo(all.stream().skip(1).map(Frame.Event::id).toList());
      assertThat(rest.getLast().data()).contains("liftoff");
    }
  }

  @Test
  void shouldKeepACallThatWaitsWhenAReplicaDies() {
    Gateway dying = gateway(Map.of());
    StatelessClient client = StatelessClient.at(dying.url(SDK));
    String params = StatelessClient.params("test_elicitation", "{\"message\":\"Who is there?\"}");
    JsonNode asked = client.ask("tools/call", params);
    assertThat(asked.at("/result/resultType").asText())
        .as(asked.toString())
        .isEqualTo("input_required");

    dying.kill();

    String round =
        StatelessClient.answered(
            params,
            asked,
            "{\"action\":\"accept\",\"content\":{\"username\":\"ada\",\"email\":\"a@b.c\"}}");
    JsonNode done = client.elsewhere(two.url(SDK)).ask("tools/call", round);
    assertThat(done.at("/result/content/0/text").asText()).as(done.toString()).contains("accept");
    dying.close();
  }

  @Test
  void shouldMoveACallWhenAReplicaDrains() throws Exception {
    try (Gateway draining = gateway(Map.of())) {
      StatelessClient client = StatelessClient.at(draining.url());
      String params = StatelessClient.params("countdown", "{\"from\":60,\"intervalMs\":50}");
      FrameStream call = client.stream("tools/call", params);
      call.event();

      draining.terminate();

      List<Frame.Event> events = call.events();
      JsonNode moved = StatelessClient.json(events.getLast().data());
      assertThat(moved.at("/result/resultType").asText())
          .as(moved.toString())
          .isEqualTo("input_required");
      assertThat(moved.at("/result/inputRequests").isEmpty()).isTrue();
      String round = StatelessClient.round(params, moved.path("result"), Map.of());
      List<Frame.Event> rest = client.elsewhere(two.url()).stream("tools/call", round).events();
      JsonNode done = StatelessClient.json(rest.getLast().data());
      assertThat(done.has("result") || done.has("error")).isTrue();
      assertThat(draining.awaitEnd(30)).isTrue();
    }
  }

  @Test
  void shouldServeABodyWhoseHeaderNamesAnEarlierRevision() {
    StatelessClient connector =
        StatelessClient.at(one.url()).with("MCP-Protocol-Version", "2025-11-25");

    JsonNode answer =
        connector.ask("tools/call", StatelessClient.params("echo", "{\"message\":\"hi\"}"));

    assertThat(answer.at("/result/resultType").asText())
        .as(answer.toString())
        .isEqualTo("complete");
    assertThat(one.output())
        .contains(
            "requests name an earlier revision in their header, and are served by their body");
  }

  @Test
  void shouldSendClientsToEarlierRevisions() {
    try (Gateway refusing = gateway(Map.of("holdfast.eras.new-clients", "refuse"))) {
      var response = StatelessClient.at(refusing.url()).post("server/discover", "{}");

      JsonNode error = StatelessClient.json(response.body()).path("error");
      assertThat(response.statusCode()).isEqualTo(400);
      assertThat(error.path("code").asInt()).isEqualTo(-32022);
      assertThat(error.at("/data/supported").toString())
          .contains("2025-11-25")
          .doesNotContain("2026");
    }
  }
}
