package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.StdioProgram;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that speak only over stdio get through cuts what others get. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class StdioBridgeIT {

  private static final Duration LONG = Duration.ofSeconds(20);

  private static NodeFixture server;

  /** For all tests that do not end it. */
  private static Gateway gateway;

  @BeforeAll
  static void start() {
    server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    gateway =
        Gateway.start(
            Map.of(
                "holdfast.stream.retry",
                "100ms",
                "holdfast.eras.event-ids",
                "true",
                "holdfast.upstreams.sdk.url",
                server.url().toString()));
  }

  @AfterAll
  static void stop() {
    gateway.close();
    server.close();
  }

  private static StdioProgram bridge(String... words) {
    List<String> all = new ArrayList<>(List.of("stdio"));
    all.addAll(List.of(words));
    return new StdioProgram(PackagedProgram.command(all.toArray(String[]::new)));
  }

  private static StdioProgram bridge(URI url) {
    return bridge("--url", url.toString());
  }

  private static List<Integer> upTo(int n) {
    return IntStream.rangeClosed(1, n).boxed().toList();
  }

  private static String text(JsonNode response) {
    return response.at("/result/content/0/text").asText();
  }

  @Test
  void shouldOfferTheToolsOfTheGatewayItself() {
    try (StdioProgram bridge = bridge().handshake()) {
      bridge.call(1, "countdown", "{\"from\":5,\"intervalMs\":20}");

      assertThat(text(bridge.response(1))).isEqualTo("liftoff");
      assertThat(bridge.progress(1)).isEqualTo(upTo(5));
      assertThat(bridge.end()).as(bridge.toString()).isZero();
      assertThat(bridge.messages()).allMatch(message -> message.has("jsonrpc"));
    }
  }

  @Test
  void shouldStandInFrontOfAProgram() {
    List<String> words = new ArrayList<>(List.of("--"));
    String program = NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO).replace("'", "");
    Pattern.compile(" ").splitAsStream(program).forEach(words::add);
    try (StdioProgram bridge = bridge(words.toArray(String[]::new)).handshake()) {
      bridge.call(1, "count", "{\"n\":5,\"intervalMs\":20}");

      assertThat(text(bridge.response(1))).isEqualTo("counted 5");
      assertThat(bridge.progress(1)).isEqualTo(upTo(5));
      assertThat(bridge.end()).as(bridge.toString()).isZero();
    }
  }

  @Test
  void shouldAnswerWhatIsNoMessage() {
    try (StdioProgram bridge = bridge()) {
      bridge.say("{oops").say("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}");

      assertThat(bridge.response(7).at("/error/message").asText()).contains("initialize comes");
      assertThat(bridge.messages()).anyMatch(each -> each.at("/error/code").asInt() == -32700);
      assertThat(bridge.end()).isZero();
    }
  }

  @Test
  void shouldFinishWhatIsUnderWayWhenTheClientEnds() {
    try (StdioProgram bridge = bridge().handshake()) {
      bridge.call(1, "countdown", "{\"from\":10,\"intervalMs\":100}");
      bridge.awaitProgress(1, 1);

      assertThat(bridge.end()).as(bridge.toString()).isZero();
      assertThat(text(bridge.response(1))).isEqualTo("liftoff");
    }
  }

  @Test
  void shouldPassOnEachMessageOnceThoughConnectionsAreCut() {
    passesOnEachMessageOnce(11);
  }

  @Test
  @Tag("long")
  void shouldPassOnEachMessageOnceThoughConnectionsAreCutElsewhere() {
    passesOnEachMessageOnce(12);
  }

  private static void passesOnEachMessageOnce(long seed) {
    StreamCuts cuts = StreamCuts.ofCall(6, seed);
    try (FaultProxy network = FaultProxy.inFrontOf(gateway.url()).plan(cuts);
        StdioProgram bridge = bridge(network.url()).handshake()) {
      bridge.call(1, "countdown", "{\"from\":30,\"intervalMs\":30}");

      assertThat(text(bridge.response(1))).as(bridge.toString()).isEqualTo("liftoff");
      assertThat(bridge.progress(1)).isEqualTo(upTo(30));
      assertThat(cuts.done()).isEqualTo(6);
      assertThat(bridge.end()).isZero();
      assertThat(network.exchanges()).anyMatch(exchange -> exchange.isA("DELETE"));
    }
  }

  @Test
  void withoutASessionShouldPassOnEachMessageOnceThoughConnectionsAreCut() {
    StreamCuts cuts = StreamCuts.ofCall(6, 13);
    try (FaultProxy network = FaultProxy.inFrontOf(gateway.url()).plan(cuts);
        StdioProgram bridge = bridge(network.url())) {
      bridge.say(ToolRequest.stateless(1, "countdown", "{\"from\":30,\"intervalMs\":30}"));

      assertThat(text(bridge.response(1))).as(bridge.toString()).isEqualTo("liftoff");
      assertThat(bridge.progress(1)).isEqualTo(upTo(30));
      assertThat(cuts.done()).isEqualTo(6);
      assertThat(bridge.end()).isZero();
    }
  }

  /** As when a laptop has no network: what was asked for meanwhile is asked when it is back. */
  @Test
  void shouldWaitForTheNetwork() {
    try (FaultProxy network = FaultProxy.inFrontOf(gateway.url());
        StdioProgram bridge = bridge(network.url()).handshake()) {
      bridge.call(1, "countdown", "{\"from\":30,\"intervalMs\":100}").awaitProgress(1, 3);
      network.refuse();
      network.cutAll();
      int waiting = askUntilItWaits(bridge, 2);
      network.accept();

      assertThat(text(bridge.response(1))).as(bridge.toString()).isEqualTo("liftoff");
      assertThat(bridge.progress(1)).isEqualTo(upTo(30));
      assertThat(bridge.response(waiting).has("result")).as(bridge.toString()).isTrue();
    }
  }

  /** What goes to a connection whose end was not seen yet has no known outcome, and cannot wait. */
  private static int askUntilItWaits(StdioProgram bridge, int firstId) {
    int id = firstId;
    while (true) {
      int asked = id;
      bridge.call(asked, "echo", "{\"text\":\"later\"}");
      await().atMost(LONG).until(() -> triesAgain(bridge) || bridge.hasResponse(asked));
      if (!bridge.hasResponse(asked)) {
        return asked;
      }
      assertThat(bridge.response(asked).at("/error/message").asText()).contains("is unknown");
      id++;
    }
  }

  private static boolean triesAgain(StdioProgram bridge) {
    return bridge.errors().stream().anyMatch(line -> line.contains("trying again"));
  }

  @Test
  void shouldGoOnWhenTheGatewayIsKilledAndStartedAgain() {
    try (RedisFixture redis = RedisFixture.start();
        Gateway first = gateway(redis, 0);
        StdioProgram bridge = bridge(first.url()).handshake()) {
      bridge.call(1, "count", "{\"n\":30,\"intervalMs\":200}").awaitProgress(1, 5);
      first.kill();
      try (Gateway second = gateway(redis, first.url().getPort())) {
        assertThat(text(bridge.response(1)))
            .as("%s\n%s", bridge, second.output())
            .isEqualTo("counted 30");
        assertThat(bridge.progress(1)).isEqualTo(upTo(30));
        assertThat(bridge.end()).isZero();
      }
    }
  }

  private static Gateway gateway(RedisFixture redis, int port) {
    return Gateway.start(
        redis.gatewaySettings(
            "quarkus.http.port",
            Integer.toString(port),
            "holdfast.stream.retry",
            "100ms",
            "holdfast.upstream.url",
            server.url().toString()));
  }

  /** The client knows of no sessions, so it is not to notice more than that a call has failed. */
  @Test
  void shouldOpenAnotherSessionWhenTheGatewayHasForgottenThisOne() {
    try (Gateway first = Gateway.start(Map.of("holdfast.stream.retry", "100ms"));
        StdioProgram bridge = bridge(first.url()).handshake()) {
      bridge.call(1, "countdown", "{\"from\":600,\"intervalMs\":100}").awaitProgress(1, 3);
      first.kill();
      String port = Integer.toString(first.url().getPort());
      try (Gateway second = Gateway.start(Map.of("quarkus.http.port", port))) {
        assertThat(bridge.response(1).at("/error/message").asText())
            .as(second.output())
            .contains("lost the session");
        bridge.call(2, "countdown", "{\"from\":3,\"intervalMs\":10}");

        assertThat(text(bridge.response(2))).as(bridge.toString()).isEqualTo("liftoff");
        assertThat(bridge.messages().filter(each -> each.path("id").asInt(-1) == 0)).hasSize(1);
      }
    }
  }

  @Test
  void shouldServeTheTypeScriptSdk() throws Exception {
    StreamCuts cuts = StreamCuts.ofCall(4, 21);
    try (FaultProxy network = FaultProxy.inFrontOf(gateway.url("/servers/sdk/mcp")).plan(cuts)) {
      TypeScriptClient client =
          TypeScriptClient.callOverStdio(
              PackagedProgram.command("stdio", "--url", network.url().toString()),
              "count",
              "{\"n\":20,\"intervalMs\":50}");

      client.hasCounted(20);
      assertThat(client.errors()).isEmpty();
      assertThat(cuts.done()).isEqualTo(4);
    }
  }

  @Test
  void shouldEndOnSigterm() throws InterruptedException {
    try (StdioProgram bridge = bridge().handshake()) {
      assertThat(bridge.terminate()).as(bridge.toString()).isTrue();
    }
  }
}
