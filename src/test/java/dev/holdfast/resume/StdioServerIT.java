package dev.holdfast.resume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The packaged gateway in front of a server as it is published, which knows nothing but stdio. */
@Timeout(120)
class StdioServerIT {

  private static final long SEED = Long.getLong("holdfast.seed", 20_251_125L);
  private static final int CALLS = 8;
  private static final int STEPS = 10;

  @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
  private static Gateway gateway;

  @BeforeAll
  static void start() {
    gateway = gateway();
  }

  @AfterAll
  static void stop() {
    gateway.close();
  }

  @Test
  void shouldBringACallOnceHoweverOftenItsConnectionIsCut() throws Exception {
    try (FaultProxy proxy = FaultProxy.inFrontOf(gateway.url());
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      Random random = new Random(SEED);
      FollowingClient client = new FollowingClient(http, List.of(proxy.url()), random);
      proxy.plan(new RandomCuts(SEED, STEPS + 2));
      int cuts = 0;

      for (int id = 1; id <= CALLS; id++) {
        Transcript transcript = client.call(longCall(id), random);
        // Cut before it had any event id, there is nothing to resume.
        if (transcript.isComplete() || transcript.canResume()) {
          isWhole(transcript);
        }
        cuts += transcript.cuts();
      }

      assertThat(cuts).isGreaterThan(CALLS / 2);
    }
  }

  private static void isWhole(Transcript transcript) {
    assertThat(transcript.progress())
        .as("seed %s\n%s", SEED, transcript)
        .isEqualTo(IntStream.rangeClosed(1, STEPS).boxed().toList());
    assertThat(transcript.results()).as("seed %s\n%s", SEED, transcript).isEqualTo(1);
    assertThat(transcript.ids()).as("seed %s\n%s", SEED, transcript).doesNotHaveDuplicates();
  }

  @Test
  void shouldEndACallWhoseProcessDies() {
    McpClient client = McpClient.at(gateway.url()).ready();
    FrameStream stream = client.stream(longCall(1));
    assertThat(stream.event().data()).contains("\"progress\":1");

    children(gateway).forEach(ProcessHandle::destroyForcibly);

    List<Frame.Event> events = stream.events();
    assertThat(events.getLast().data()).contains("\"id\":1", "-32000", "outcome");
    HttpResponse<String> next =
        client.post("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}");
    assertThat(next.statusCode()).isEqualTo(404);
    McpClient again = McpClient.at(gateway.url());
    assertThat(again.initialized().statusCode()).isEqualTo(200);
  }

  @Test
  void shouldSayThatThereIsNoRoomForAnotherProcess() {
    URI narrow = gateway.url("/servers/narrow/mcp");
    McpClient first = McpClient.at(narrow);

    HttpResponse<String> refused = McpClient.at(narrow).initialized();

    assertThat(refused.statusCode()).isEqualTo(503);
    // A session that was just used keeps its place for half a minute.
    assertThat(refused.headers().firstValueAsLong("Retry-After").orElseThrow()).isBetween(2L, 30L);
    assertThat(refused.body()).contains("\"id\":0", "no room");
    first.delete();
    await().until(() -> McpClient.at(narrow).initialized().statusCode() == 200);
  }

  @Test
  void shouldLeaveNoProcessBehind() throws Exception {
    for (boolean killed : new boolean[] {false, true}) {
      try (Gateway ending = gateway()) {
        McpClient.at(ending.url()).ready();
        McpClient.at(ending.url()).ready().stream(longCall(1));
        List<ProcessHandle> children = children(ending);
        assertThat(children).hasSizeGreaterThanOrEqualTo(2);

        if (killed) {
          killAlone(ending);
        } else {
          ending.terminate();
          assertThat(ending.awaitEnd(30)).isTrue();
        }

        await().until(() -> children.stream().noneMatch(StdioServerIT::runs));
      }
    }
  }

  /** Without its children, as the kernel would when memory is short. */
  private static void killAlone(Gateway gateway) {
    assertThat(ProcessHandle.of(gateway.pid()).orElseThrow().destroyForcibly()).isTrue();
  }

  private static List<ProcessHandle> children(Gateway gateway) {
    return ProcessHandle.of(gateway.pid()).orElseThrow().descendants().toList();
  }

  /** An orphan that nobody waits for is alive to the system, but runs no program. */
  private static boolean runs(ProcessHandle process) {
    return process.isAlive() && process.info().command().isPresent();
  }

  private static Gateway gateway() {
    String command = NodeFixture.commandLine(NodeFixture.EVERYTHING, "stdio");
    return Gateway.start(
        Map.of(
            // The client waits for as long as it is told, after each of its many cuts.
            "holdfast.stream.retry",
            "50ms",
            "holdfast.upstream.command",
            command,
            "holdfast.upstreams.narrow.command",
            command,
            "holdfast.upstreams.narrow.max-processes",
            "1"));
  }

  private static String longCall(int id) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":\
    {"name":"trigger-long-running-operation","arguments":{"duration":0.5,"steps":%d},\
    "_meta":{"progressToken":"%d"}}}\
    """
        .formatted(id, STEPS, id);
  }
}
