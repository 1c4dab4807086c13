package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testing.Exchange;
import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The official Java SDK. Its client (2.1.0) offers {@code resumableStreams}, but resumes nothing:
 * it tracks each event as a stream of its own that never fails, so the code that would reconnect is
 * never reached. A call whose stream is cut ends with the client's own timeout, whatever the server
 * offers; {@link #shouldNotBeResumedByTheSdkEvenWithoutAGateway} shows it, and fails once that is
 * mended.
 *
 * <p>Such a client gets durable streams from a gateway on its own machine, which resumes in its
 * place. On that way its connection to the service is cut here. On the direct way only what the SDK
 * survives is cut: all connections but the one of the call.
 */
@Timeout(60)
class JavaSdkIT {
  private static final int STEPS = 30;
  private static final int CUTS = 6;
  private static final Duration INTERVAL = Duration.ofMillis(30);
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static NodeFixture server;
  private static RedisFixture redis;
  private static Gateway first;
  private static Gateway second;
  private static RoundRobin replicas;

  @BeforeAll
  static void start() {
    server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    redis = RedisFixture.start();
    List<Gateway> pair = Gateway.startPair(settings(server.url(), redis.gatewaySettings()));
    first = pair.getFirst();
    second = pair.getLast();
    replicas = RoundRobin.over(first.url(), second.url());
  }

  @AfterAll
  static void stop() {
    replicas.close();
    second.close();
    first.close();
    redis.close();
    server.close();
  }

  private static Map<String, String> settings(URI upstream, Map<String, String> more) {
    Map<String, String> all = new HashMap<>(more);
    all.put("holdfast.upstream.url", upstream.toString());
    all.put("holdfast.stream.retry", "100ms");
    return all;
  }

  @Test
  void shouldSeeEachEventOnceThoughItsStandaloneStreamIsCut() {
    StreamCuts cuts = StreamCuts.ofStandaloneStream(1, 1);
    try (FaultProxy network = FaultProxy.inFrontOf(replicas.url()).plan(cuts);
        JavaClient client = JavaClient.connect(network.url(), PATIENCE)) {
      client.count(STEPS, INTERVAL);

      client.hasSeen(STEPS);
      assertThat(cuts.done()).isOne();
    }
  }

  @Test
  void shouldSeeEachEventOnceThroughAGatewayBesideIt() {
    seesEachEventOnceThroughAGatewayBesideIt(1);
  }

  @Test
  @Tag("long")
  void shouldSeeEachEventOnceThroughAGatewayBesideItCutElsewhere() {
    seesEachEventOnceThroughAGatewayBesideIt(2);
  }

  private static void seesEachEventOnceThroughAGatewayBesideIt(long seed) {
    StreamCuts cuts = StreamCuts.ofCall(CUTS, seed);
    try (FaultProxy network = FaultProxy.inFrontOf(replicas.url()).plan(cuts);
        Gateway beside = Gateway.start(settings(network.url(), Map.of()));
        JavaClient client = JavaClient.connect(beside.url(), PATIENCE)) {
      client.count(STEPS, INTERVAL);

      client.hasSeen(STEPS);
      assertThat(cuts.done()).isEqualTo(CUTS);
      assertThat(network.exchanges()).filteredOn(StreamCuts::resumes).hasSize(CUTS);
    }
  }

  /** The client has lost its stream, but neither its session nor what the call did. */
  @Test
  void shouldGoOnWithItsSessionAfterACallWasCut() {
    try (FaultProxy network = FaultProxy.inFrontOf(first.url());
        JavaClient client = JavaClient.connect(network.url(), Duration.ofSeconds(3))) {
      network.plan(JavaSdkIT::cutOfCall);
      assertThatThrownBy(() -> client.count(STEPS, INTERVAL)).hasCauseInstanceOf(TIMED_OUT);
      network.plan(_ -> Fault.none());
      int seen = client.progress().size();

      client.count(STEPS, INTERVAL);

      assertThat(client.progress()).hasSize(seen + STEPS);
    }
  }

  @Test
  void shouldNotBeResumedByTheSdkEvenWithoutAGateway() {
    try (FaultProxy network = FaultProxy.inFrontOf(server.url()).plan(JavaSdkIT::cutOfCall);
        JavaClient client = JavaClient.connect(network.url(), Duration.ofSeconds(3))) {
      assertThatThrownBy(() -> client.count(STEPS, INTERVAL)).hasCauseInstanceOf(TIMED_OUT);

      assertThat(network.exchanges()).noneMatch(StreamCuts::resumes);
    }
  }

  private static final Class<TimeoutException> TIMED_OUT = TimeoutException.class;

  private static Fault cutOfCall(Exchange exchange) {
    return exchange.calls("tools/call")
        ? Fault.reset(Trigger.insideEvent(5, 20)).after(StreamCuts.SILENCE)
        : Fault.none();
  }
}
