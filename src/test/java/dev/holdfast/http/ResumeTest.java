package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks resumption, eviction and the end of streams. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class ResumeTest {

  @Inject ControlledTool tool;

  @Test
  void shouldReplayAfterLastEventId() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);
    call.stream().cut();
    call.send("while nobody listened");

    FrameStream rest = client.resume(call.stream().lastEventId());

    assertThat(rest.status()).isEqualTo(200);
    Frame.Event missed = rest.event();
    assertThat(missed.data()).contains("while nobody listened");
    assertThat(missed.number()).isEqualTo(2);
    call.assertContinues(rest, 2);
  }

  @Test
  void shouldReplayAllAfterThePrimingEvent() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);
    String name = call.stream().lastEventId().replaceFirst("_.*", "");
    call.stream().cut();

    FrameStream all = client.resume(name + "_0-0");

    assertThat(all.event().number()).isOne();
    call.assertContinues(all, 1);
  }

  @Test
  void shouldAnswer204AfterTheLastEvent() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    FrameStream stream = client.call("echo", "{\"message\":\"all\"}");
    stream.rest();

    HttpResponse<String> nothing = client.resumeWhole(stream.lastEventId());

    assertThat(nothing.statusCode()).isEqualTo(204);
    assertThat(nothing.body()).isEmpty();
  }

  @Test
  void shouldNotReplayStreamsOfOtherSessions() throws InterruptedException {
    ControlledCall call = ControlledCall.start(McpClient.at(GatewayUrl.mcp()), tool);
    // An event of the millisecond in which a session begins could be its own, purged.
    Thread.sleep(5);

    HttpResponse<String> refused =
        McpClient.at(GatewayUrl.mcp()).resumeWhole(call.stream().lastEventId());

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("-32000").doesNotContain("begun");
    call.assertContinues(call.stream(), 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nonsense", "g_1", "g_1-", "g_-1-1", "_1-1", "g_99999999999999999999-1"})
  void shouldReplayTheStandaloneStreamForAnInvalidLastEventId(String lastEventId) {
    McpClient client = McpClient.at(GatewayUrl.mcp("scripted"));
    FrameStream before = client.listen();
    List<Frame.Event> first = List.of(before.event(), before.event(), before.event());
    before.cut();

    FrameStream again = client.resume(lastEventId);

    assertThat(List.of(again.event(), again.event(), again.event())).isEqualTo(first);
    assertThat(first).extracting(Frame.Event::number).containsExactly(1L, 2L, 3L);
    client.delete();
  }

  @Test
  void shouldDelayReconnectsOfConnectionsThatEvictEachOther() {
    McpClient client = McpClient.at(GatewayUrl.mcp("scripted"));
    FrameStream one = client.listen();
    one.event();
    FrameStream two = client.listen();
    two.next();
    FrameStream three = client.listen();
    three.next();

    assertThat(retryAtEnd(one)).isEqualTo(Duration.ofSeconds(5));
    assertThat(retryAtEnd(two)).isEqualTo(Duration.ofSeconds(10));
    client.delete();
    assertThat(three.rest()).last().isEqualTo(new Frame.End(true));
  }

  private static Duration retryAtEnd(FrameStream evicted) {
    List<Frame> frames = evicted.rest();
    assertThat(frames).last().isEqualTo(new Frame.End(true));
    return ((Frame.Retry) frames.get(frames.size() - 2)).delay();
  }

  @Test
  void shouldLoseNoEventOnEviction() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);

    FrameStream newer = client.resume(call.stream().lastEventId());
    newer.next();

    assertThat(call.stream().events()).isEmpty();
    call.assertContinues(newer, 1);
  }

  @Test
  void shouldEndACancelledCallWithoutAResponse() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);

    HttpResponse<String> accepted =
        client.post(
            """
            {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\
            """
                .formatted(client.lastId()));

    assertThat(accepted.statusCode()).isEqualTo(202);
    assertThat(call.stream().rest()).containsExactly(new Frame.End(true));
    assertThat(client.resumeWhole(call.stream().lastEventId()).statusCode()).isEqualTo(204);
    ControlledCall next = ControlledCall.start(client, tool);
    next.assertContinues(next.stream(), 1);
  }

  @Test
  void shouldEndAllStreamsOfADeletedSession() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);
    FrameStream standalone = client.listen();
    standalone.next();

    HttpResponse<String> ended = client.delete();

    assertThat(ended.statusCode()).isEqualTo(204);
    assertThat(call.stream().event().data()).contains("The stream of the request is gone");
    assertThat(call.stream().events()).isEmpty();
    assertThat(standalone.events()).isEmpty();
    for (HttpResponse<String> late :
        List.of(
            client.post("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}"),
            client.resumeWhole(call.stream().lastEventId()),
            client.delete())) {
      assertThat(late.statusCode()).isEqualTo(404);
      assertThat(late.body()).contains("-32001", "Session not found");
    }
  }
}
