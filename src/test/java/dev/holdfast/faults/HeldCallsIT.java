package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.faults.server.CountingServer;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.StatelessClient;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Calls whose clients get a handle, and whose replica is killed. In the long form, a call takes a
 * minute, and its clients wait for two seconds.
 */
@Timeout(240)
class HeldCallsIT {

  private static final int STEPS = LongRun.REQUESTED ? 600 : 50;
  private static final String CALL = "{\"n\":%d,\"intervalMs\":100}".formatted(STEPS);
  private static final String TOOL = "wait_for_result";

  private static String text(JsonNode response) {
    return response.at("/result/content/0/text").asText();
  }

  private static JsonNode last(FrameStream stream) {
    List<Frame.Event> events = stream.events();
    assertThat(events).as(stream.raw()).isNotEmpty();
    return StatelessClient.json(events.getLast().data());
  }

  /** A caller of a tool. */
  private interface Calls {
    JsonNode call(String tool, String arguments);
  }

  private static Calls client(Gateway gateway, boolean sessions) {
    if (sessions) {
      McpClient client = McpClient.at(gateway.url());
      return (tool, arguments) -> last(client.call(tool, arguments));
    }
    StatelessClient client = StatelessClient.at(gateway.url());
    return (tool, arguments) -> client.ask("tools/call", StatelessClient.params(tool, arguments));
  }

  @ParameterizedTest
  @CsvSource({"true, true", "true, false", "false, true", "false, false"})
  void shouldReturnTheResultAtAnotherReplica(boolean resumable, boolean sessions) {
    try (RedisFixture redis = RedisFixture.start();
        CountingServer server = CountingServer.start(resumable)) {
      Map<String, String> settings =
          redis.gatewaySettings(
              "holdfast.upstream.url",
              server.url().toString(),
              "holdfast.calls.hold-after",
              LongRun.REQUESTED ? "2s" : "1s");
      try (Gateway one = Gateway.start(settings);
          Gateway two = Gateway.start(settings);
          Gateway three = Gateway.start(settings)) {
        String held = text(client(one, sessions).call("count", CALL));
        assertThat(held).contains("still running");

        one.kill();

        String handle = "{\"handle\":\"" + held.substring(held.lastIndexOf(' ') + 1) + "\"}";
        List<Calls> others = List.of(client(two, sessions), client(three, sessions));
        JsonNode result = others.getFirst().call(TOOL, handle);
        for (int n = 1; text(result).contains("still running"); n++) {
          result = others.get(n % 2).call(TOOL, handle);
        }
        if (resumable) {
          assertThat(result.at("/result/content").toString())
              .as(result.toString())
              .isEqualTo(CountingServer.counted(STEPS));
        } else {
          assertThat(result.at("/error/message").asText())
              .as(result.toString())
              .contains("unknown");
        }
        assertThat(result.at("/result/isError").asBoolean()).isFalse();
        assertThat(server.repeatedCalls()).isEmpty();
      }
    }
  }
}
