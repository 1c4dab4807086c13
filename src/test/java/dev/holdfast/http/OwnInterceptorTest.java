package dev.holdfast.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.intercept.InterceptedMessage;
import dev.holdfast.intercept.Interceptor;
import dev.holdfast.intercept.Verdict;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.ToolRequest;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.enterprise.inject.Alternative;
import jakarta.inject.Singleton;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An interceptor that the program brings as a bean. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.BehindProxy.class)
class OwnInterceptorTest {

  /** Refuses calls of echo with the word secret. */
  @Alternative
  @Singleton
  public static final class NoSecrets implements Interceptor {
    @Override
    public Verdict judge(InterceptedMessage message) {
      return "echo".equals(message.tool())
              && new String(message.message().bytes(), UTF_8).contains("secret")
          ? new Verdict.Refuse(JsonRpcErrorCode.SERVER_ERROR, "Keep it to yourself")
          : Verdict.PASS;
    }
  }

  @Test
  void shouldJudgeTheMessagesOfAllUpstreams() {
    McpClient client = McpClient.at(GatewayUrl.mcp()).ready();

    String refused = echo(client, "a secret");
    String passed = echo(client, "a word");
    client.delete();

    assertThat(refused).contains("\"code\":-32000", "Keep it to yourself");
    assertThat(passed).contains("a word");
  }

  private static String echo(McpClient client, String text) {
    return client.post(ToolRequest.of(1, "echo", "{\"message\":\"" + text + "\"}")).body();
  }
}
