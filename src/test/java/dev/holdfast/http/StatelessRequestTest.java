package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.StatelessClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.lang.management.ManagementFactory;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks requests of clients without a session. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class StatelessRequestTest {

  private static final String META = "io.modelcontextprotocol/";
  private static final String GREET = StatelessClient.params("greet", "{}");
  private static final String ADA = "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}";

  private static StatelessClient client() {
    return StatelessClient.at(GatewayUrl.mcp());
  }

  private static StatelessClient scripted() {
    return StatelessClient.at(GatewayUrl.mcp("scripted"));
  }

  private static String text(JsonNode response) {
    return response.at("/result/content/0/text").asText();
  }

  private static String state(JsonNode response) {
    return response.at("/result/requestState").asText();
  }

  /** The next round of a call of {@code greet}. */
  private static String answered(JsonNode asked) {
    return StatelessClient.answered(GREET, asked, ADA);
  }

  @Test
  void shouldDescribeTheServer() {
    JsonNode found = client().ask("server/discover", "{}").path("result");

    assertThat(found.at("/supportedVersions/0").asText()).isEqualTo("2026-07-28");
    assertThat(found.at("/capabilities/tools").isObject()).isTrue();
    assertThat(found.path("_meta").path(META + "serverInfo").path("name").asText()).isNotEmpty();
    assertThat(found.path("resultType").asText()).isEqualTo("complete");
  }

  @ParameterizedTest
  @CsvSource({"tools/list, tools", "prompts/list, prompts", "resources/list, resources"})
  void shouldSayHowLongAListIsValid(String method, String member) {
    HttpResponse<String> response = client().post(method, "{}");

    JsonNode result = StatelessClient.json(response.body()).path("result");
    assertThat(response.headers().firstValue("Mcp-Session-Id")).isEmpty();
    assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
    assertThat(result.path(member).isEmpty()).isFalse();
    assertThat(result.path("ttlMs").asInt(-1)).isZero();
    assertThat(result.path("cacheScope").asText()).isEqualTo("private");
  }

  @Test
  void shouldRefuseClientsAtSingleServer() {
    HttpResponse<String> refusal =
        StatelessClient.at(GatewayUrl.mcp("other")).post("tools/list", "{}");

    assertThat(refusal.statusCode()).isEqualTo(400);
    assertThat(refusal.body())
        .contains("-32022", "2025-11-25", "\"requested\":\"2026-07-28\"")
        .doesNotContain("\"2026-07-28\",");
  }

  @Test
  void shouldAskTheClientAndGoOnWithItsAnswer() {
    StatelessClient client = client();
    JsonNode asked = client.ask("tools/call", GREET);
    assertThat(asked.at("/result/resultType").asText()).isEqualTo("input_required");

    JsonNode done = client.ask("tools/call", answered(asked));

    assertThat(text(done)).contains("Ada");
    assertThat(done.path("id").asInt()).isEqualTo(client.lastId());
  }

  @Test
  void shouldAskAgainForWhatIsNotAnswered() {
    StatelessClient client = client();
    JsonNode asked = client.ask("tools/call", GREET);
    String without = StatelessClient.round(GREET, asked.path("result"), Map.of());

    JsonNode again = client.ask("tools/call", without);

    assertThat(again.at("/result/inputRequests")).isEqualTo(asked.at("/result/inputRequests"));
    assertThat(text(client.ask("tools/call", answered(again)))).contains("Ada");
  }

  @Test
  void shouldGiveAnswersToAServerOnce() {
    StatelessClient client = client();
    String round = answered(client.ask("tools/call", GREET));
    JsonNode first = client.ask("tools/call", round);

    JsonNode again = client.ask("tools/call", round.replace("Ada", "Bob"));

    assertThat(text(first)).contains("Ada");
    assertThat(again.path("result")).isEqualTo(first.path("result"));
  }

  @Test
  void shouldGiveBackTheBytesOfARound() {
    StatelessClient client = client();
    ObjectNode round = (ObjectNode) StatelessClient.json(answered(client.ask("tools/call", GREET)));
    round.putObject("_meta").put("padding", "x".repeat(1_000_000));

    assertThat(text(client.ask("tools/call", round.toString()))).contains("Ada");

    await()
        .untilAsserted(() ->
            assertThat(Metrics.of("holdfast_budget_used_bytes{limit=\"request_bytes\"}"))
                .isLessThan(1_000_000));
  }

  @Test
  void shouldRefuseStatesThatItDidNotIssueForTheRequest() {
    StatelessClient client = client();
    JsonNode asked = client.ask("tools/call", GREET);
    String round = answered(asked);
    String state = state(asked);
    char changed = state.charAt(8) == 'A' ? 'B' : 'A';

    for (String refused :
        List.of(
            round.replace(state, state.substring(0, 8) + changed + state.substring(9)),
            round.replace(state, "%"),
            round.replace("\"arguments\":{}", "\"arguments\":{\"name\":\"x\"}"))) {
      JsonNode answer = client.ask("tools/call", refused);
      assertThat(answer.at("/error/code").asInt()).as(answer.toString()).isEqualTo(-32602);
    }
    assertThat(text(client.ask("tools/call", round))).contains("Ada");
  }

  @Test
  void shouldNotAskAClientThatCannotAnswer() {
    HttpResponse<String> response = client().capableOf("{}").post("tools/call", GREET);

    assertThat(response.body()).doesNotContain("input_required").contains("elicitation");
  }

  @Test
  void shouldTranslateProgressAndIds() {
    StatelessClient client = client();

    FrameStream call = client.call("countdown", "{\"from\":3,\"intervalMs\":10}");

    List<JsonNode> messages =
        call.events().stream().map(event -> StatelessClient.json(event.data())).toList();
    assertThat(messages).hasSize(4);
    assertThat(messages.subList(0, 3))
        .allMatch(message -> message.at("/params/progressToken").asInt() == client.lastId());
    assertThat(messages.getLast().path("id").asInt()).isEqualTo(client.lastId());
    assertThat(call.raw()).doesNotContain("id: ").doesNotContain("retry");
  }

  @ParameterizedTest
  @CsvSource({
    "Mcp-Method,           tools/list,        echo, 400, -32020",
    "Mcp-Name,             other,             echo, 400, -32020",
    "Mcp-Name,             =?base64?%%?=,     echo, 400, -32020",
    "Mcp-Name,             =?base64?ZWNobw==?=, echo, 200, 0",
    "MCP-Protocol-Version, 2027-01-01,        echo, 400, -32020",
    "MCP-Protocol-Version, 2025-11-25,        echo, 200, 0",
  })
  void shouldCompareHeadersWithTheBody(
      String header, String value, String tool, int status, int code) {
    HttpResponse<String> response =
        client()
            .with(header, value)
            .post("tools/call", StatelessClient.params(tool, "{\"message\":\"hi\"}"));

    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(response.body()).contains(code == 0 ? "\"result\"" : "\"code\":" + code);
  }

  @ParameterizedTest
  @CsvSource({
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "tasks/list",
    "no/such",
  })
  void shouldNotKnowRemovedMethods(String method) {
    HttpResponse<String> response = client().post(method, "{}");

    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(StatelessClient.json(response.body()).at("/error/code").asInt()).isEqualTo(-32601);
  }

  @Test
  void shouldRefuseARequestWithoutCapabilities() {
    HttpResponse<String> response = client().capableOf("1").post("tools/list", "{}");

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(StatelessClient.json(response.body()).at("/error/code").asInt()).isEqualTo(-32602);
  }

  @Test
  void shouldRefuseIdsThatAreTooLong() {
    String token = "{\"_meta\":{\"progressToken\":\"%s\"}}".formatted("x".repeat(100_000));

    HttpResponse<String> response = client().post("tools/list", token);

    assertThat(response.statusCode()).isEqualTo(400);
  }

  @Test
  void shouldTellOfChangesUntilTheClientLeaves() {
    StatelessClient client = scripted();
    FrameStream listening =
        client.stream(
            "subscriptions/listen",
            """
            {"notifications":{"toolsListChanged":true,"promptsListChanged":true,\
            "resourceSubscriptions":["a:1"]}}\
            """);

    JsonNode acknowledged = StatelessClient.json(listening.event().data());

    assertThat(acknowledged.at("/params/notifications").toString())
        .isEqualTo("{\"toolsListChanged\":true,\"resourceSubscriptions\":[\"a:1\"]}");
    for (String method :
        List.of("notifications/tools/list_changed", "notifications/resources/updated")) {
      JsonNode told = StatelessClient.json(listening.event().data());
      assertThat(told.path("method").asText()).isEqualTo(method);
      assertThat(told.at("/params/_meta").path(META + "subscriptionId").asInt())
          .isEqualTo(client.lastId());
    }
    int before = ScriptedUpstream.count("DELETE");
    listening.cut();
    await().until(() -> ScriptedUpstream.count("DELETE") > before);
  }

  @Test
  void shouldForgetTheResourcesOfAClientThatLeaves() {
    FrameStream listening =
        scripted().stream(
            "subscriptions/listen",
            "{\"notifications\":{\"resourceSubscriptions\":[\"a:1\",\"a:2\",\"a:1\"]}}");
    assertThat(listening.event().data()).contains("acknowledged");
    assertThat(histogram()).contains("Subscriptions$Resource");

    listening.cut();

    await().until(() -> !histogram().contains("Subscriptions$Resource"));
  }

  private static String histogram() {
    try {
      Object text =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "gcClassHistogram",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
      assertThat(text.toString()).contains("StatelessRequestTest");
      return text.toString();
    } catch (JMException failure) {
      throw new AssertionError(failure);
    }
  }

  @Test
  void shouldRefuseCapabilitiesThatAreTooLong() {
    String many = "{\"experimental\":{\"a\":\"" + "b".repeat(16 * 1024) + "\"}}";

    JsonNode refused = client().capableOf(many).ask("tools/call", GREET);

    assertThat(refused.at("/error/code").asInt()).as(refused.toString()).isEqualTo(-32602);
  }

  @Test
  void shouldRefuseASubscriptionOfTooMuch() {
    String many =
        String.join(",", IntStream.range(0, 101).mapToObj(i -> "\"a:" + i + "\"").toList());

    String large = "\"a:" + "b".repeat(32 * 1024) + '"';

    for (String filter :
        List.of(
            "1",
            "{\"resourceSubscriptions\":[" + many + "]}",
            "{\"resourceSubscriptions\":[" + large + "]}")) {
      JsonNode refused = client().ask("subscriptions/listen", "{\"notifications\":" + filter + "}");
      assertThat(refused.at("/error/code").asInt()).as(refused.toString()).isEqualTo(-32602);
    }
  }

  /** The tool sends a ping, three questions, of which it withdraws one, and log messages. */
  @Test
  void shouldPassQuestionsOfAnyKind() {
    StatelessClient client = scripted();
    String params =
        "{\"name\":\"inquire\",\"arguments\":{},\"_meta\":{\"%slogLevel\":\"warning\"}}"
            .formatted(META);

    FrameStream first = client.stream("tools/call", params);

    List<JsonNode> messages =
        first.events().stream().map(event -> StatelessClient.json(event.data())).toList();
    assertThat(messages.getFirst().at("/params/data").asText()).isEqualTo("careful");
    JsonNode asked = messages.getLast();
    assertThat(asked.at("/result/inputRequests/91/method").asText()).isEqualTo("roots/list");
    assertThat(asked.at("/result/inputRequests/92/method").asText())
        .isEqualTo("sampling/createMessage");
    assertThat(asked.at("/result/inputRequests").size()).as(asked.toString()).isEqualTo(2);
    assertThat(messages).hasSize(2);
    String round =
        StatelessClient.round(
            params,
            asked.path("result"),
            Map.of("91", "{\"roots\":[]}", "92", "{\"content\":{\"type\":\"text\"}}"));
    JsonNode done = client.ask("tools/call", round);
    assertThat(text(done))
        .contains("90:{}")
        .contains("91:{\"roots\":[]}")
        .contains("92:{\"content\":{\"type\":\"text\"}}")
        .contains("94:-32601");
  }

  @Test
  void shouldSendTheUserToAPageFirst() {
    StatelessClient client = scripted();
    String params = StatelessClient.params("sign-in", "{}");

    JsonNode asked = client.ask("tools/call", params);

    JsonNode page = asked.at("/result/inputRequests/page1");
    assertThat(page.path("method").asText()).isEqualTo("elicitation/create");
    assertThat(page.at("/params/url").asText()).isEqualTo("https://example.org/");
    assertThat(page.at("/params").has("elicitationId")).isFalse();
    String round =
        StatelessClient.round(
            params, asked.path("result"), Map.of("page1", "{\"action\":\"accept\"}"));
    // The server is called again.
    assertThat(client.ask("tools/call", round).at("/result/resultType").asText())
        .isEqualTo("input_required");
    JsonNode unable = client.capableOf("{\"elicitation\":{}}").ask("tools/call", params);
    assertThat(unable.at("/error/code").asInt()).isEqualTo(-32021);
    assertThat(unable.at("/error/data/requiredCapabilities/elicitation/url").isObject()).isTrue();
  }

  /** The tool asks without a look at the capabilities. */
  @Test
  void shouldRefuseACallOfAToolThatNeedsMoreThanTheClientDeclares() {
    JsonNode error = client().capableOf("{}").ask("tools/call", GREET).path("error");

    assertThat(error.path("code").asInt()).as(error.toString()).isEqualTo(-32021);
    assertThat(error.at("/data/requiredCapabilities/elicitation/form").isObject()).isTrue();
  }

  /** The server takes longer than a client that can resume waits for the head of a response. */
  @Test
  void shouldGiveAnErrorOfAServerWithSessionsItsStatus() {
    HttpResponse<String> response =
        scripted().post("tools/call", StatelessClient.params("unknown", "{}"));

    assertThat(response.statusCode()).as(response.body()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource({"missing, -32602", "reserved, -32603"})
  void shouldReplaceCodesThatTheRevisionDoesNotKnow(String tool, int code) {
    JsonNode error = scripted().ask("tools/call", StatelessClient.params(tool, "{}")).path("error");

    assertThat(error.path("code").asInt()).as(error.toString()).isEqualTo(code);
  }

  @Test
  void shouldOpenAnotherSessionIfTheServerHasForgottenItOnce() {
    JsonNode failed = scripted().ask("tools/call", StatelessClient.params("gone", "{}"));

    assertThat(failed.at("/error/code").asInt()).as(failed.toString()).isEqualTo(-32603);
    assertThat(text(scripted().ask("tools/call", StatelessClient.params("any", "{}"))))
        .isEqualTo("fine");
  }

  @Test
  void shouldSayThatAServerCannotBeReached() {
    HttpResponse<String> response =
        StatelessClient.at(GatewayUrl.mcp("down")).post("tools/list", "{}");

    assertThat(response.statusCode()).isEqualTo(502);
    assertThat(StatelessClient.json(response.body()).at("/error/code").asInt()).isNegative();
  }

  @Test
  void shouldCancelACallWhoseClientLeaves() {
    FrameStream call = scripted().call("wait", "{}");
    call.event();
    int before = ScriptedUpstream.count("notifications/cancelled");

    call.cut();

    await().until(() -> ScriptedUpstream.count("notifications/cancelled") > before);
  }
}
