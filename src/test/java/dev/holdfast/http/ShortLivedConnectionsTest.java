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

/** Connections that are kept alive, closed for their age or for silence; and readers of gaps. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(Profiles.ShortLived.class)
class ShortLivedConnectionsTest {

  @Inject ManualTool tool;

  @Test
  void shouldShowThatASilentConnectionLives() {
    McpClient client = McpClient.at(Endpoints.usual());
    ManualCall call = ManualCall.begin(client, tool);

    assertThat(call.stream().next()).isEqualTo(new Frame.Comment());
    assertThat(call.stream().next()).isEqualTo(new Frame.Comment());

    FrameStream rest = client.resume(call.stream().lastEventId());
    call.assertGoesOn(rest, 1);
  }

  @Test
  void shouldCloseASilentConnectionButNotItsStream() {
    McpClient client = McpClient.at(Endpoints.usual());
    ManualCall call = ManualCall.begin(client, tool);

    List<Frame> frames = call.stream().rest();

    assertClosedToComeBack(frames);
    assertThat(frames).contains(new Frame.Comment());
    call.say("while nobody listened");
    FrameStream rest = client.resume(call.stream().lastEventId());
    assertThat(rest.event().number()).isEqualTo(2);
    call.assertGoesOn(rest, 2);
  }

  @Test
  void shouldCloseAnOldConnectionButNotItsStream() {
    McpClient client = McpClient.at(Endpoints.usual());
    // Never silent for as long as a connection may be.
    FrameStream stream =
        client.stream(
            """
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"countdown",\
            "arguments":{"from":20,"intervalMs":100},"_meta":{"progressToken":"t"}}}\
            """);

    List<Frame> frames = stream.rest();

    assertClosedToComeBack(frames);
    List<Frame.Event> seen = messages(frames);
    assertThat(seen).isNotEmpty();
    FrameStream rest = client.resume(stream.lastEventId());
    assertThat(rest.events())
        .extracting(Frame.Event::number)
        .containsExactlyElementsOf(LongStream.rangeClosed(seen.size() + 1L, 21).boxed().toList());
    assertThat(rest.raw()).contains("liftoff");
  }

  private static List<Frame.Event> messages(List<Frame> frames) {
    return frames.stream()
        .filter(Frame.Event.class::isInstance)
        .map(Frame.Event.class::cast)
        .filter(event -> !event.data().isEmpty())
        .toList();
  }

  private static void assertClosedToComeBack(List<Frame> frames) {
    assertThat(frames)
        .endsWith(new Frame.Retry(Duration.ofMillis(70)), new Frame.End(true))
        .noneMatch(frame -> frame instanceof Frame.Event event && event.data().contains("result"));
  }

  @Test
  void shouldMakeEveryRequestDurableThatIsToBe() {
    McpClient client = McpClient.at(Endpoints.usual());

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
  void shouldGoOnAfterAGapThatItNames() {
    McpClient client = McpClient.at(Endpoints.usual());
    ManualCall call = ManualCall.begin(client, tool);
    call.stream().cut();
    tool.flood(call.key(), 300, 10);
    awaitEvent(client, call.stream().lastEventId(), "finished");

    FrameStream rest = client.resume(call.stream().lastEventId());
    List<Frame.Event> events = rest.events();

    assertThat(rest.status()).isEqualTo(200);
    // Begun, 300 messages and the result; the last hundred are kept.
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
