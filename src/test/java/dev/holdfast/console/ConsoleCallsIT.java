package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** States of real calls, as the console lists them. */
@Timeout(120)
class ConsoleCallsIT {

  private static final String LONG = "{\"from\":60,\"intervalMs\":100}";

  private static JsonNode get(Gateway gateway, String path) {
    try {
      RawAnswer answer =
          RawAnswer.to(gateway.url("/q/health").resolve("/console/" + path), "GET", Map.of());
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      return StatelessClient.json(answer.body());
    } catch (IOException unreachable) {
      throw new AssertionError(unreachable);
    }
  }

  private static JsonNode call(Gateway gateway, int index) {
    return get(gateway, "calls?sort=started").path("calls").path(index);
  }

  private static void awaitState(Gateway gateway, int index, String state) {
    await()
        .untilAsserted(() -> {
          JsonNode call = call(gateway, index);
          assertThat(call.path("state").asText()).as(call.toString()).isEqualTo(state);
        });
  }

  private static List<String> steps(Gateway gateway, int index) {
    List<String> kinds = new ArrayList<>();
    get(gateway, "calls/" + call(gateway, index).path("key").asText())
        .path("steps")
        .forEach(step -> kinds.add(step.path("kind").asText()));
    return kinds;
  }

  @Test
  void shouldTellHeldCallsAndTasksFromThoseWithoutAClient() {
    try (Gateway gateway =
        Gateway.start(
            Map.of(
                "holdfast.demo-tools", "always",
                "holdfast.calls.hold-after", "1s",
                "holdfast.calls.task-after", "500ms"))) {
      McpClient client = McpClient.at(gateway.url()).ready();
      String handle = handle(result(client.call("countdown", LONG)));
      awaitState(gateway, 0, "held");
      assertThat(steps(gateway, 0)).containsExactly("started", "connected", "held");

      StatelessClient other =
          StatelessClient.at(gateway.url())
              .capableOf("{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}");
      JsonNode task = other.ask("tools/call", StatelessClient.params("countdown", LONG));
      awaitState(gateway, 1, "task");
      assertThat(steps(gateway, 1)).containsExactly("started", "connected", "task");

      // The results are there, and nobody has them.
      awaitState(gateway, 0, "not fetched");
      awaitState(gateway, 1, "not fetched");
      assertThat(result(client.call("wait_for_result", "{\"handle\":\"%s\"}".formatted(handle))))
          .contains("liftoff");
      awaitState(gateway, 0, "finished");
      JsonNode result =
          other.ask("tasks/get", "{\"taskId\":\"" + task.at("/result/taskId").asText() + "\"}");
      assertThat(result.at("/result/status").asText()).isEqualTo("completed");
      awaitState(gateway, 1, "finished");
    }
  }

  private static String result(FrameStream call) {
    return call.rest().stream()
        .filter(frame -> frame instanceof Frame.Event event && event.data().contains("result"))
        .map(frame -> ((Frame.Event) frame).data())
        .findFirst()
        .orElseThrow();
  }

  /** The text names the tool and the handle: the last word of it. */
  private static String handle(String message) {
    String text = StatelessClient.json(message).at("/result/content/0/text").asText();
    return text.substring(text.lastIndexOf(' ') + 1);
  }
}
