package dev.holdfast.http;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.StatelessClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Without replay, events have no ids, so clients do not try to resume. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.BehindProxy.class)
class WithoutReplayTest {

  @Test
  void shouldSendEventsWithoutIds() {
    FrameStream stream = McpClient.at(GatewayUrl.mcp()).call("echo", "{\"message\":\"hello\"}");

    Frame.Event answer = stream.event();

    assertThat(answer.data()).contains("hello");
    assertThat(stream.rest()).containsExactly(new Frame.End(true));
    assertThat(stream.raw()).doesNotContain("id:", "retry:");
  }

  @Test
  void shouldForwardTheContentTypeOfTheUpstream() {
    HttpResponse<String> answer =
        McpClient.at(GatewayUrl.mcp("scripted"))
            .post(
                """
                {"jsonrpc":"2.0","id":7,"method":"tools/call",\
                "params":{"name":"quick","arguments":{}}}\
                """);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("Content-Type").orElse(""))
        .startsWith("application/json");
    assertThat(answer.body()).contains("\"id\":7", "fine");
  }

  @Test
  void shouldGoOnWithACallThatHasAsked() {
    StatelessClient client = StatelessClient.at(GatewayUrl.mcp());
    String greet = StatelessClient.params("greet", "{}");
    JsonNode asked = client.ask("tools/call", greet);
    String ada = "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}";

    JsonNode done = client.ask("tools/call", StatelessClient.answered(greet, asked, ada));

    assertThat(done.at("/result/content/0/text").asText()).contains("Ada");
  }

  @Test
  void shouldServeNoHttpWithSseWhenItIsOff() {
    for (String path : new String[] {"/sse", "/mcp/sse", "/servers/scripted/sse"}) {
      assertThat(given().accept("text/event-stream").get(path).statusCode()).isEqualTo(404);
    }
  }

  @Test
  void shouldOpenTheStandaloneStreamForAnyLastEventId() {
    McpClient client = McpClient.at(GatewayUrl.mcp("scripted"));

    for (String lastEventId : new String[] {"g_1-1", "nonsense"}) {
      try (FrameStream stream = client.resume(lastEventId)) {
        assertThat(stream.status()).isEqualTo(200);
        assertThat(stream.next()).isEqualTo(new Frame.Comment());
        assertThat(stream.raw()).doesNotContain("id:");
      }
    }
    client.delete();
  }
}
