package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks keep-alive, the limits on idle time and lifetime of connections, and skipped gaps. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.ShortConnections.class)
class ShortLivedConnectionsTest {

  @Inject ControlledTool tool;

  @Test
  void shouldSendKeepAlivesOnAnIdleConnection() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);

    assertThat(call.stream().next()).isEqualTo(new Frame.Comment());
    assertThat(call.stream().next()).isEqualTo(new Frame.Comment());

    FrameStream rest = client.resume(call.stream().lastEventId());
    call.assertContinues(rest, 1);
  }

  /** A client that does not resume once waited for ever for the result of a silent call. */
  @Test
  void shouldCloseAnIdleConnectionButNotThatOfASilentCall() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);

    List<Frame> idle = client.listen().rest();

    assertClosedForReconnect(idle);
    assertThat(idle).contains(new Frame.Comment());
    call.assertContinues(call.stream(), 1);
  }

  @Test
  void shouldCloseAnOldConnectionButNotItsStream() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    // The connection is never idle, so only its lifetime ends it.
    FrameStream stream =
        client.stream(
            """
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"countdown",\
            "arguments":{"from":40,"intervalMs":100},"_meta":{"progressToken":"t"}}}\
            """);

    List<Frame> frames = stream.rest();

    assertClosedForReconnect(frames);
    List<Frame.Event> seen = messages(frames);
    assertThat(seen).isNotEmpty();
    FrameStream rest = client.resume(stream.lastEventId());
    assertThat(rest.events())
        .extracting(Frame.Event::number)
        .containsExactlyElementsOf(LongStream.rangeClosed(seen.size() + 1L, 41).boxed().toList());
    assertThat(rest.raw()).contains("liftoff");
  }

  private static List<Frame.Event> messages(List<Frame> frames) {
    return frames.stream()
        .filter(Frame.Event.class::isInstance)
        .map(Frame.Event.class::cast)
        .filter(event -> !event.data().isEmpty())
        .toList();
  }

  private static void assertClosedForReconnect(List<Frame> frames) {
    assertThat(frames)
        .endsWith(new Frame.Retry(Duration.ofMillis(70)), new Frame.End(true))
        .noneMatch(frame -> frame instanceof Frame.Event event && event.data().contains("result"));
  }

  @Test
  void shouldMakeEveryRequestDurable() {
    McpClient client = McpClient.at(GatewayUrl.mcp());

    for (String method : List.of("ping", "tools/list")) {
      FrameStream stream =
          client.stream("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\"}".formatted(method));

      Frame.Event answer = stream.event();
      assertThat(answer.data()).contains("\"id\":7", "\"result\"");
      assertThat(answer.number()).isOne();
      assertThat(stream.rest()).containsExactly(new Frame.End(true));
    }
  }

  @Test
  void shouldReportAGapAndContinue() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);
    call.stream().cut();
    tool.sendAndFinish(call.key(), 300, 10);
    awaitEvent(client, call.stream().lastEventId(), "finished");

    FrameStream rest = client.resume(call.stream().lastEventId());
    List<Frame.Event> events = rest.events();

    assertThat(rest.status()).isEqualTo(200);
    // The stream had 302 events: a first one, 300 messages and the result. The last 100 remain.
    assertThat(events).hasSize(100);
    assertThat(events.getFirst().number()).isEqualTo(203);
    assertThat(events.getLast().data()).contains("finished");
    assertThat(rest.raw()).containsPattern("(?m)^: ?gap: events after \\d+-1 up to \\d+-202 are");
  }

  private static void awaitEvent(McpClient client, String after, String text) {
    await()
        .until(() -> {
          try (FrameStream stream = client.resume(after)) {
            return stream.rest().toString().contains(text);
          }
        });
  }
}
