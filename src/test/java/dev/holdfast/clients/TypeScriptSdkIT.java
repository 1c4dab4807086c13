package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The official TypeScript SDK: what it asks of the gateway, it gets once and in order. */
@Timeout(60)
class TypeScriptSdkIT {
  private static final int STEPS = 30;
  private static final int CUTS = 6;
  private static final String COUNT = "{\"n\":" + STEPS + ",\"intervalMs\":30}";

  private static NodeFixture server;
  private static RedisFixture redis;
  private static Gateway alone;
  private static List<Gateway> pair;
  private static RoundRobin replicas;

  @BeforeAll
  static void start() {
    server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    redis = RedisFixture.start();
    alone = gateway(Map.of());
    pair = new ArrayList<>(Gateway.startPair(onRedis(0)));
    replicas = RoundRobin.over(pair.getFirst().url(), pair.getLast().url());
  }

  @AfterAll
  static void stop() {
    replicas.close();
    pair.forEach(Gateway::close);
    alone.close();
    redis.close();
    server.close();
  }

  private static Gateway gateway(Map<String, String> settings) {
    return Gateway.start(inFrontOfServer(settings));
  }

  private static Map<String, String> onRedis(int port) {
    return inFrontOfServer(redis.gatewaySettings("quarkus.http.port", Integer.toString(port)));
  }

  private static Map<String, String> inFrontOfServer(Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("holdfast.upstream.url", server.url().toString());
    all.put("holdfast.stream.retry", "100ms");
    return all;
  }

  @Test
  void shouldSeeEachEventOnceThoughConnectionsAreCut() {
    counts(alone.url(), 1);
  }

  @Test
  @Tag("long")
  void shouldSeeEachEventOnceThoughConnectionsAreCutElsewhere() {
    counts(alone.url(), 2);
  }

  @Test
  void shouldSeeEachEventOnceWhateverReplicaItComesTo() {
    countsOverReplicas(3);
  }

  @Test
  @Tag("long")
  void shouldSeeEachEventOnceWhateverReplicaItComesToElsewhere() {
    countsOverReplicas(4);
  }

  private static void countsOverReplicas(long seed) {
    int before = replicas.requests(1);

    counts(replicas.url(), seed);

    assertThat(replicas.requests(1) - before).isGreaterThanOrEqualTo(CUTS / 2);
  }

  /** One of the two has the call, the other one answers what follows. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void shouldSeeEachEventOnceThoughAReplicaIsStopped(int stopped) throws Exception {
    Gateway stopping = pair.get(stopped);
    double before = activeStreams();
    try (RoundRobin both = RoundRobin.over(pair.getFirst().url(), pair.getLast().url());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      both.probing(i -> pair.get(i).url("/q/health/ready"), Duration.ofMillis(100));
      Future<TypeScriptClient> client =
          threads.submit(
              () -> TypeScriptClient.call(both.url(), "count", "{\"n\":40,\"intervalMs\":100}"));
      // The one on which it listens, and that of the call.
      await().atMost(Duration.ofSeconds(20)).until(() -> activeStreams() >= before + 2);
      stopping.terminate();

      client.get().hasCounted(40);
      assertThat(stopping.awaitEnd(10)).as(stopping.output()).isTrue();
      assertThat(both.requests(1 - stopped)).isGreaterThan(2);
    } finally {
      stopping.close();
      pair.set(stopped, Gateway.start(onRedis(stopping.url().getPort())));
    }
  }

  private static double activeStreams() {
    return pair.stream()
        .mapToDouble(each -> each.metric("holdfast_streams_active").orElseThrow())
        .sum();
  }

  private static void counts(URI gateway, long seed) {
    StreamCuts cuts = StreamCuts.ofCall(CUTS, seed);
    try (FaultProxy network = FaultProxy.inFrontOf(gateway).plan(cuts)) {
      TypeScriptClient client = TypeScriptClient.call(network.url(), "count", COUNT);

      client.hasCounted(STEPS);
      assertThat(cuts.done()).isEqualTo(CUTS);
      assertThat(network.exchanges()).filteredOn(StreamCuts::resumes).hasSize(CUTS);
    }
  }

  @Test
  void shouldAnswerAQuestionThoughItsConnectionIsCut() {
    answers(alone.url(), Trigger.insideEvent(2, 40));
  }

  @Test
  void shouldAnswerAQuestionWhateverReplicaItComesTo() {
    answers(replicas.url(), Trigger.afterEvents(2));
  }

  /** The question is the second event of the call's stream, after the priming event. */
  private static void answers(URI gateway, Trigger cut) {
    try (FaultProxy network = FaultProxy.inFrontOf(gateway)) {
      network.plan(exchange -> exchange.calls("tools/call") ? silently(cut) : Fault.none());

      TypeScriptClient client =
          TypeScriptClient.call(
              network.url(), "ask", "{\"question\":\"still there?\"}", "--answer", "of course");

      assertThat(client.text()).as(client.toString()).isEqualTo("accept: of course");
      assertThat(network.exchanges()).anyMatch(StreamCuts::resumes);
      assertThat(network.exchanges())
          .filteredOn(exchange -> exchange.body().contains("\"action\":\"accept\""))
          .hasSize(1);
    }
  }

  private static Fault silently(Trigger at) {
    return Fault.reset(at).after(StreamCuts.SILENCE);
  }

  @Test
  void shouldSeeAnnouncementsOnceThoughTheStandaloneStreamIsCut() {
    hearsAnnouncements(alone.url(), 5);
  }

  @Test
  void shouldSeeAnnouncementsOnceWhateverReplicaItComesTo() {
    hearsAnnouncements(replicas.url(), 6);
  }

  private static void hearsAnnouncements(URI gateway, long seed) {
    StreamCuts cuts = StreamCuts.ofStandaloneStream(CUTS, seed);
    try (FaultProxy network = FaultProxy.inFrontOf(gateway).plan(cuts)) {
      TypeScriptClient client =
          TypeScriptClient.call(
              network.url(),
              "announce",
              "{\"text\":\"news\",\"n\":30,\"intervalMs\":30}",
              "--logs",
              "30");

      assertThat(client.logs())
          .as(client.toString())
          .containsExactlyElementsOf(
              IntStream.rangeClosed(1, STEPS).mapToObj(i -> "news " + i).toList());
      assertThat(client.text()).isEqualTo("announced news");
      assertThat(cuts.done()).isEqualTo(CUTS);
    }
  }

  /**
   * The SDK (1.32) takes neither an error nor the end of a cancelled call for a response, and goes
   * on to resume what is over: with an answer of 200 each time, forever.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--tool no-such-tool",
        "--tool count --args {\"n\":1,\"intervalMs\":9999} --timeout-ms 500"
      })
  void shouldStopResumingWhatIsOver(String call) {
    try (FaultProxy network = FaultProxy.inFrontOf(alone.url())) {
      String[] options = (call + " --linger-ms 1500").split(" ");

      TypeScriptClient client = TypeScriptClient.call(network.url(), "", "{}", options);

      assertThat(client.exitCode()).as(client.toString()).isOne();
      assertThat(network.exchanges()).filteredOn(StreamCuts::resumes).hasSize(1);
    }
  }
}
