package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.held.HeldCalls;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.StatelessClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks calls that run for longer than {@code calls.hold-after}. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Held.class)
class HeldCallsTest {

  private static final String LONG = "{\"from\":25,\"intervalMs\":100}";
  private static final String TOOL = "wait_for_result";

  private static JsonNode last(FrameStream stream) {
    List<Frame.Event> events = stream.events();
    return StatelessClient.json(events.getLast().data());
  }

  private static String text(JsonNode response) {
    return response.at("/result/content/0/text").asText();
  }

  private static String handle(JsonNode held) {
    assertThat(text(held)).contains("still running", TOOL);
    assertThat(held.at("/result/isError").asBoolean()).isTrue();
    return text(held).substring(text(held).lastIndexOf(' ') + 1);
  }

  private static String argument(String handle) {
    return "{\"handle\":\"" + handle + "\"}";
  }

  /** The answer to a request for a result, as JSON. */
  private static String ask(McpClient client, String arguments) {
    return client
        .post(
            "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":%s}}"
                .formatted(TOOL, arguments))
        .body();
  }

  /** Waits until the call is over, and counts the answers before the result. */
  private static JsonNode collect(McpClient client, String handle) {
    while (true) {
      JsonNode answer = last(client.call(TOOL, argument(handle)));
      if (!text(answer).contains("still running")) {
        return answer;
      }
      assertThat(handle(answer)).isNotEmpty();
    }
  }

  @Test
  void shouldListItsTool() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    String list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

    assertThat(client.post(list).body()).contains("\"countdown\"", "\"name\":\"" + TOOL + "\"");
    assertThat(StatelessClient.at(GatewayUrl.mcp()).post("tools/list", "{}").body())
        .contains("\"countdown\"", "\"name\":\"" + TOOL + "\"");
  }

  @Test
  void shouldNotListTwoToolsOfItsName() {
    try (LoggedLines log = new LoggedLines(HeldCalls.class)) {
      String list =
          McpClient.at(GatewayUrl.mcp("scripted"))
              .post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}")
              .body();

      assertThat(StatelessClient.json(list).at("/result/tools")).hasSize(1);
      log.await("the server has a tool with the name of calls.tool tool=" + TOOL);
    }
  }

  @Test
  void shouldReturnTheResultLater() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    JsonNode held = last(client.call("countdown", LONG));

    JsonNode result = collect(McpClient.at(GatewayUrl.mcp()), handle(held));

    assertThat(text(result)).isEqualTo("liftoff");
    assertThat(result.at("/result/isError").asBoolean()).isFalse();
    // It can be collected again while it is kept.
    assertThat(text(collect(client, handle(held)))).isEqualTo("liftoff");
  }

  @Test
  void shouldReturnTheResultLaterWithoutASession() {
    StatelessClient client = StatelessClient.at(GatewayUrl.mcp());
    JsonNode held = client.ask("tools/call", StatelessClient.params("countdown", LONG));
    String again = StatelessClient.params(TOOL, argument(handle(held)));

    JsonNode answer = client.ask("tools/call", again);
    while (text(answer).contains("still running")) {
      answer = client.ask("tools/call", again);
    }

    assertThat(text(answer)).isEqualTo("liftoff");
    assertThat(answer.path("id").asInt()).isEqualTo(client.lastId());
    assertThat(answer.at("/result/resultType").asText()).isEqualTo("complete");
  }

  @Test
  void shouldPassProgressOnWhileAClientWaits() {
    StatelessClient client = StatelessClient.at(GatewayUrl.mcp());
    JsonNode held = client.ask("tools/call", StatelessClient.params("countdown", LONG));

    FrameStream waiting = client.call(TOOL, argument(handle(held)));

    List<JsonNode> messages =
        waiting.events().stream().map(event -> StatelessClient.json(event.data())).toList();
    assertThat(messages.getFirst().path("method").asText()).isEqualTo("notifications/progress");
    assertThat(messages.getFirst().at("/params/progressToken").asInt()).isEqualTo(client.lastId());
  }

  @Test
  void shouldNotHoldAShortCall() {
    JsonNode answer =
        last(McpClient.at(GatewayUrl.mcp()).call("countdown", "{\"from\":2,\"intervalMs\":10}"));

    assertThat(text(answer)).isEqualTo("liftoff");
  }

  @Test
  void shouldRefuseHandlesThatItDidNotGive() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    String handle = handle(last(client.call("countdown", LONG)));
    char changed = handle.charAt(9) == 'A' ? 'B' : 'A';
    String forged = handle.substring(0, 9) + changed + handle.substring(10);

    for (String arguments : List.of(argument(forged), "{}", "{\"handle\":7}")) {
      assertThat(ask(client, arguments)).contains("no result for this handle", "\"isError\":true");
    }
    // Of another upstream.
    assertThat(ask(McpClient.at(GatewayUrl.mcp("scripted")), argument(handle)))
        .contains("no result for this handle");
  }

  @Test
  void shouldSayThatTheResultIsNoLongerKept() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    String handle = handle(last(client.call("countdown", LONG)));

    assertThat(client.delete().statusCode()).isEqualTo(204);

    assertThat(ask(McpClient.at(GatewayUrl.mcp()), argument(handle))).contains("no longer kept");
  }

  @Test
  void shouldAnswerEachOfTwoClientsThatWait() {
    StatelessClient client = StatelessClient.at(GatewayUrl.mcp());
    JsonNode held = client.ask("tools/call", StatelessClient.params("countdown", LONG));
    String handle = handle(held);
    FrameStream first = client.call(TOOL, argument(handle));
    first.event(); // Progress: the first one waits.

    JsonNode second = last(McpClient.at(GatewayUrl.mcp()).call(TOOL, argument(handle)));

    assertThat(text(last(first))).contains("still running");
    assertThat(text(second)).containsAnyOf("still running", "liftoff");
    assertThat(text(collect(McpClient.at(GatewayUrl.mcp()), handle))).isEqualTo("liftoff");
  }

  @Test
  void shouldAnswerAClientBeforeItsTimeLimit() {
    StatelessClient hasty =
        StatelessClient.at(GatewayUrl.mcp("scripted")).with("User-Agent", "hasty/1");

    JsonNode held = hasty.ask("tools/call", StatelessClient.params("wait", "{}"));

    assertThat(handle(held)).isNotEmpty();
  }

  @Test
  void shouldAskTheClientThatCalled() {
    StatelessClient client = StatelessClient.at(GatewayUrl.mcp());
    String greet = StatelessClient.params("greet", "{}");
    JsonNode asked = client.ask("tools/call", greet);
    String ada = "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}";

    JsonNode done = client.ask("tools/call", StatelessClient.answered(greet, asked, ada));

    assertThat(text(done)).contains("Ada");
  }

  @Test
  void shouldSayThatACallWaitsForTheClientThatCalled() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    String handle = handle(last(client.call("greet", "{}")));

    JsonNode answer = last(client.call(TOOL, argument(handle)));

    assertThat(text(answer)).contains("has asked a question");
  }

  @Test
  void shouldAnswerAClientThatWaitsForACancelledCall() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    String call =
        """
        {"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"countdown",\
        "arguments":%s,"_meta":{"progressToken":1}}}\
        """
            .formatted(LONG);
    String handle = handle(last(client.stream(call)));
    FrameStream waiting =
        client.stream(
            """
            {"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":"%s",\
            "arguments":%s,"_meta":{"progressToken":2}}}\
            """
                .formatted(TOOL, argument(handle)));
    assertThat(waiting.event().data()).contains("\"progressToken\":2"); // It waits.

    var cancelled =
        client.post(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}");

    assertThat(cancelled.statusCode()).isEqualTo(202);
    assertThat(waiting.rest().toString())
        .as(waiting.raw())
        .contains("no longer kept, or there is none");
  }

  @Test
  void shouldCheckTheHeadersOfARequestForAResult() {
    StatelessClient client = StatelessClient.at(GatewayUrl.mcp());

    var response =
        client
            .with("Mcp-Name", "other")
            .post("tools/call", StatelessClient.params(TOOL, argument("x")));

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(StatelessClient.json(response.body()).at("/error/code").asInt()).isEqualTo(-32020);
  }
}
