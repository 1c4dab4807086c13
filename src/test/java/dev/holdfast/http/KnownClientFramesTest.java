package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.SseClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What known clients get on the wire. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class KnownClientFramesTest {

  private static final String JAVA = "Java-http-client/21.0.2";

  @Inject ControlledTool tool;

  private static McpClient client(String name, String userAgent) {
    return McpClient.at(GatewayUrl.mcp(), McpClient.NEWEST, name, userAgent);
  }

  /** The Java SDK up to 2.0.1 failed at the first answer: "Invalid SSE response". */
  @Test
  void shouldSendNoRetryToTheJavaSdk() {
    McpClient client = client("Java SDK MCP Client", JAVA);
    ControlledCall call = ControlledCall.start(client, tool);

    // The second tail evicts the first, which a retry follows for other clients.
    FrameStream resumed = client.resume(call.stream().lastEventId());
    resumed.next();
    call.stream().rest();
    call.assertContinues(resumed, 1);

    assertThat(call.stream().raw()).startsWith("id: ").doesNotContain("retry");
    assertThat(resumed.raw()).startsWith("id: ").doesNotContain("retry");
  }

  /** The Java SDK timed out in initialize: the endpoint event had a retry. */
  @Test
  void shouldSendNoRetryBeforeAClientInitializes() throws IOException {
    try (FrameStream stream = SseClient.open(GatewayUrl.of("/sse"), "", JAVA)) {
      stream.event();

      assertThat(stream.raw()).startsWith("event: endpoint\nid: ").doesNotContain("retry");
    }
  }

  @Test
  void shouldSendRetryToClientsOnTheSameHttpClientThatTakeIt() {
    ControlledCall call = ControlledCall.start(client("langchain4j", JAVA), tool);

    assertThat(call.stream().raw()).containsPattern("\nretry: [56]\\d{3}\n");
    call.assertContinues(call.stream(), 1);
  }

  /** The AI SDK reported "Failed to parse message" for each call. */
  @Test
  void shouldSendNoPrimingEventToTheAiSdk() {
    McpClient client = client("ai-sdk-mcp-client", "ai-sdk/2.0.99 runtime/node.js/v22");
    ControlledCall call = ControlledCall.start(client, tool);
    String last = call.stream().lastEventId();
    call.assertContinues(call.stream(), 1);

    assertThat(call.stream().raw()).startsWith(": \n\nid: ").doesNotContain("data: \n");
    assertThat(last).isNotEmpty();
    assertThat(client.resumeWhole(last).body()).doesNotContain("data: \n");
  }
}
