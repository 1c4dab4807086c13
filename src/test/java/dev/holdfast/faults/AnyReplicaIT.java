package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ToolRequest;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a client sends to a running call lands on a replica that does not run it. */
@Timeout(90)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class AnyReplicaIT {

  private static final String LOCAL = "/mcp";
  private static final String ASKING = "/servers/asking/mcp";
  private static final String SDK = "/servers/sdk/mcp";
  private static final Duration PROMPTLY = Duration.ofSeconds(5);

  /** The two must not meet by luck, so that is tried a few times. */
  private static final int TIMES = 20;

  private static RedisFixture redis;
  private static AskingServer asking;
  private static NodeFixture sdk;
  private static Gateway one;
  private static Gateway two;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    asking = new AskingServer();
    sdk = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    one = gateway();
    two = gateway();
  }

  private static Gateway gateway() {
    return Gateway.start(
        redis.gatewaySettings(
            "holdfast.upstreams.asking.url",
            asking.url().toString(),
            "holdfast.upstreams.sdk.url",
            sdk.url().toString(),
            "holdfast.merge.enabled",
            "false"));
  }

  @AfterAll
  static void stop() {
    two.close();
    one.close();
    sdk.close();
    asking.close();
    redis.close();
  }

  private static String cancelled(int id) {
    return """
    {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\
    """
        .formatted(id);
  }

  private static void accept(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(202);
  }

  /** All that comes before the end of a stream, which comes soon and in order. */
  private static List<Frame.Event> events(FrameStream stream) {
    List<Frame> rest = stream.rest();
    assertThat(rest.getLast()).as(stream.raw()).isEqualTo(new Frame.End(true));
    return rest.stream()
        .filter(Frame.Event.class::isInstance)
        .map(Frame.Event.class::cast)
        .filter(event -> !event.data().isEmpty())
        .toList();
  }

  /** Whether the server still thinks the call runs, or ends it as soon as it hears. */
  @ParameterizedTest
  @CsvSource({"deaf", "polite"})
  void shouldEndACallOfAServerThatIsCancelledElsewhere(String tool) {
    McpClient here = McpClient.at(one.url(ASKING));
    McpClient there = here.elsewhere(two.url(ASKING));
    for (int id = 1; id <= TIMES; id++) {
      long before = asking.count("notifications/cancelled");
      try (FrameStream stream = here.stream(ToolRequest.of(id, tool, "{}"))) {
        assertThat(stream.event().data()).contains("progress");

        accept(there.post(cancelled(id)));

        assertThat(events(stream)).as(stream.raw() + one.output()).isEmpty();
        assertThat(asking.count("notifications/cancelled")).isEqualTo(before + 1);
      }
    }
  }

  @Test
  void shouldStopALocalToolThatIsCancelledElsewhere() {
    McpClient here = McpClient.at(one.url(LOCAL));
    McpClient there = here.elsewhere(two.url(LOCAL));
    String countdown = "{\"from\":3600,\"intervalMs\":10}";
    for (int i = 0; i < TIMES; i++) {
      // The same id each time: it is refused as long as the call that has it runs.
      try (FrameStream stream = here.stream(ToolRequest.of(7, "countdown", countdown))) {
        assertThat(stream.event().data()).contains("progress");

        accept(there.post(cancelled(7)));

        assertThat(events(stream)).allMatch(event -> event.data().contains("progress"));
      }
    }
  }

  @Test
  void shouldStopALocalToolThatIsSilent() {
    McpClient here = McpClient.at(one.url(LOCAL));
    McpClient there = here.elsewhere(two.url(LOCAL));
    String silent = "{\"from\":2,\"intervalMs\":60000}";
    for (int i = 0; i < TIMES; i++) {
      try (FrameStream stream = here.stream(ToolRequest.of(7, "countdown", silent))) {
        assertThat(stream.status()).isEqualTo(200);

        accept(there.post(cancelled(7)));

        assertThat(events(stream)).isEmpty();
      }
    }
  }

  @Test
  void shouldLogFromTheLevelThatWasSetElsewhere() {
    McpClient here = McpClient.at(one.url(LOCAL));
    McpClient there = here.elsewhere(two.url(LOCAL));

    HttpResponse<String> set =
        there.post(
            """
            {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}\
            """);

    assertThat(set.body()).contains("\"result\"");
    try (FrameStream stream =
        here.stream(ToolRequest.of(2, "countdown", "{\"from\":1,\"intervalMs\":10}"))) {
      assertThat(stream.event().data()).contains("notifications/message", "debug");
    }
  }

  @Test
  void shouldBringAnAnswerToTheServerOnce() {
    McpClient here = McpClient.at(one.url(ASKING));
    McpClient there = here.elsewhere(two.url(ASKING));
    for (int id = 1; id <= TIMES; id++) {
      long before = asking.count("\"result\"");
      try (FrameStream stream = here.stream(ToolRequest.of(id, "ask", "{}"))) {
        assertThat(stream.event().data()).contains("elicitation/create");

        accept(there.post("{\"jsonrpc\":\"2.0\",\"id\":\"e1\",\"result\":{}}"));

        assertThat(events(stream)).hasSize(1);
        assertThat(asking.count("\"result\"")).isEqualTo(before + 1);
      }
    }
  }

  /** Each has asked something under an id of its own, and hears the other's answer, too. */
  @Test
  void shouldBringAnAnswerToTheLocalToolThatAsked() {
    McpClient here = McpClient.at(one.url(LOCAL));
    McpClient there = here.elsewhere(two.url(LOCAL));
    for (int i = 0; i < TIMES; i++) {
      try (FrameStream first = here.stream(ToolRequest.of(1, "greet", "{}"));
          FrameStream second = there.stream(ToolRequest.of(2, "greet", "{}"))) {
        String answerToFirst = answer(first, "Ann");
        String answerToSecond = answer(second, "Bob");

        accept(there.post(answerToFirst));
        accept(here.post(answerToSecond));

        assertThat(events(first)).singleElement().asString().contains("Hello, Ann!");
        assertThat(events(second)).singleElement().asString().contains("Hello, Bob!");
      }
    }
  }

  private static String answer(FrameStream stream, String name) {
    Matcher asked = Pattern.compile("\"id\":(\"[^\"]+\")").matcher(stream.event().data());
    assertThat(asked.find()).isTrue();
    return """
    {"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"%s"}}}\
    """
        .formatted(asked.group(1), name);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "test_sampling | {\"prompt\":\"p\"} | LLM response: yes",
        "test_elicitation | {\"message\":\"m\"} | User response: action=accept"
      })
  void shouldCompleteACallThatIsAnsweredElsewhere(String tool, String arguments, String result) {
    McpClient here = McpClient.at(one.url(SDK)).ready();
    McpClient there = here.elsewhere(two.url(SDK));
    try (FrameStream stream = here.stream(ToolRequest.of(1, tool, arguments))) {
      Matcher asked = Pattern.compile("\"id\":([^,}]+)").matcher(stream.event().data());
      assertThat(asked.find()).isTrue();

      accept(
          there.post(
              """
              {"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"type":"text",\
              "text":"yes"},"model":"m","role":"assistant"}}\
              """
                  .formatted(asked.group(1))));

      List<Frame.Event> rest = events(stream);
      assertThat(rest).hasSize(1);
      assertThat(rest.getFirst().data()).contains(result);
    }
  }

  /** The survivor ends the call. It does not resume what the server has given up. */
  @Test
  void shouldEndACallThatIsCancelledWhileNobodyRunsIt() throws Exception {
    Random random = new Random(7);
    try (Fleet fleet = new Fleet(2);
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      FollowingClient client = new FollowingClient(http, fleet.urls(), random);
      Transcript transcript = new Transcript();
      client
          .at(List.of(fleet.url(0)))
          .begin(
              ToolRequest.count(7, 600, 100),
              random,
              transcript,
              seen -> seen.progress().size() >= 3);
      fleet.replica(0).kill();

      int status = client.at(List.of(fleet.url(1))).send(cancelled(7), random);

      assertThat(status).isEqualTo(202);
      assertThat(fleet.isOpen(client, transcript)).isTrue();
      await().atMost(PROMPTLY).until(() -> !fleet.isOpen(client, transcript));
      client.at(List.of(fleet.url(1))).resume(transcript, random);
      assertThat(transcript.errors()).as(transcript + fleet.output()).isEmpty();
      assertThat(transcript.results()).isZero();
    }
  }
}
