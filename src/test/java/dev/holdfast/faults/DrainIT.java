package dev.holdfast.faults;

import static dev.holdfast.faults.FleetClients.count;
import static dev.holdfast.faults.FleetClients.upTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RoundRobin;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The promise for a replica that is stopped in the middle of calls. */
@Timeout(120)
@Tag("alone")
class DrainIT {

  private static final int STEPS = 40;
  private static final int CALLS = 20;

  /** Enough steps that a call still runs when a short drain ends. */
  private static final int MANY_STEPS = 80;

  /** So many steps that the drain ends the call first. */
  private static final int ENDLESS = 300;

  private static final String DEAD_AFTER = "holdfast.cluster.dead-after";

  /** Far more than a busy machine needs: nobody must wait until a replica counts as lost. */
  private static final String LONG = "90s";

  private static final Duration UNNOTICED = Duration.ofSeconds(45);

  private static final Map<String, String> SHORT_DRAIN =
      Map.of("holdfast.stream.drain-timeout", "1s", DEAD_AFTER, LONG);

  /** The client of these tests resumes wherever it can. */
  private static final Map<String, String> MOVING =
      Map.of(
          "holdfast.clients.following.client-info",
          "following/*",
          "holdfast.clients.following.resumes",
          "100",
          DEAD_AFTER,
          LONG);

  /** The replicas of all tests that need no other settings. */
  @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
  private static Fleet shared;

  private final FleetClients clients = new FleetClients();

  @BeforeAll
  static void start() {
    shared = new Fleet(2, MOVING);
  }

  @AfterAll
  static void stop() {
    shared.close();
  }

  @AfterEach
  void close() {
    clients.close();
  }

  @Test
  void shouldFinishCallsWhoseClientsMoveToAnotherReplica() throws Exception {
    finishCalls(shared.restored());
  }

  /** Only the replica that stops can finish these calls. */
  @Test
  void shouldFinishCallsThatNoOtherReplicaCanContinue() throws Exception {
    try (Fleet fleet = new Fleet(2, MOVING, "--resumable", "false")) {
      finishCalls(fleet);
    }
  }

  private void finishCalls(Fleet fleet) throws Exception {
    try (RoundRobin balancer = balance(fleet)) {
      List<Future<Transcript>> calls = startCalls(fleet, balancer, STEPS);
      fleet.replica(0).terminate();

      for (Future<Transcript> call : calls) {
        isWhole(call.get(), STEPS, fleet);
        assertThat(call.get().toString()).contains("-- retry: 500");
        assertThat(call.get().longestSilence()).isLessThan(UNNOTICED);
      }
      assertThat(fleet.replica(0).awaitEnd(10)).isTrue();
    }
  }

  /** A client that does not resume once hung: its stream ended, and its call here later. */
  @Test
  void shouldServeClientsThatMayNotResumeToTheEndOfTheirCalls() throws Exception {
    Gateway stopping = shared.restored().replica(0);
    McpClient client = McpClient.at(stopping.url()).ready();
    FrameStream call = client.stream(count(1, STEPS));
    call.event();

    stopping.terminate();

    assertThat(call.events()).hasSize(STEPS).last().matches(DrainIT::isResult);
    assertThat(call.raw()).doesNotContain("retry: 500\n");
    assertThat(stopping.awaitEnd(10)).isTrue();
  }

  @Test
  void shouldHandOverCallsThatOutlastTheDrain() throws Exception {
    try (Fleet fleet = new Fleet(2, SHORT_DRAIN);
        RoundRobin balancer = balance(fleet)) {
      List<Future<Transcript>> calls = startCalls(fleet, balancer, MANY_STEPS);
      fleet.replica(0).terminate();

      assertThat(fleet.replica(0).awaitEnd(10)).as(fleet.output()).isTrue();
      for (Future<Transcript> call : calls) {
        isWhole(call.get(), MANY_STEPS, fleet);
        assertThat(call.get().longestSilence()).isLessThan(UNNOTICED);
      }
    }
  }

  @Test
  void shouldReportAnUnknownOutcomeOfCallsThatCannotBeHandedOver() throws Exception {
    try (Fleet fleet = new Fleet(2, SHORT_DRAIN, "--resumable", "false");
        RoundRobin balancer = balance(fleet)) {
      List<Future<Transcript>> calls = startCalls(fleet, balancer, ENDLESS);
      fleet.replica(0).terminate();

      assertThat(fleet.replica(0).awaitEnd(10)).isTrue();
      for (Future<Transcript> call : calls) {
        Transcript transcript = call.get();
        assertThat(transcript.errors()).as(transcript + fleet.output()).hasSize(1);
        assertThat(transcript.errors().getFirst()).contains("outcome of the request is unknown");
        assertThat(transcript.progress()).isEqualTo(upTo(transcript.progress().size()));
        assertThat(transcript.longestSilence()).isLessThan(UNNOTICED);
      }
    }
  }

  @Test
  void shouldRefuseNewRequestsWhileDraining() throws Exception {
    Gateway stopping = shared.restored().replica(0);
    McpClient client = McpClient.at(stopping.url()).ready();
    FrameStream call = client.stream(count(1, 30));
    call.event();

    stopping.terminate();
    await().until(() -> stopping.get("/q/health/ready").statusCode() == 503);
    // A balancer may need a moment to notice; the replica refuses requests only after that.
    await().until(() -> client.post(message("\"id\":8,\"method\":\"ping\"")).statusCode() != 200);
    HttpResponse<String> request = client.post(message("\"id\":9,\"method\":\"ping\""));
    HttpResponse<String> session = McpClient.at(stopping.url()).initialized();

    assertThat(List.of(request, session))
        .allSatisfy(answer -> {
          assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
          assertThat(answer.headers().firstValue("Retry-After")).contains("1");
        });
    assertThat(request.body()).contains("\"id\":9");
    assertThat(client.post(message("\"method\":\"notifications/x\"")).statusCode()).isEqualTo(202);
    // Clients that meet this replica again would give up after a few refusals.
    assertThat(client.resume(call.lastEventId()).events()).last().matches(DrainIT::isResult);
    assertThat(stopping.awaitEnd(10)).isTrue();
  }

  @Test
  void shouldMoveTheStandaloneStream() throws Exception {
    Fleet fleet = shared.restored();
    try (RoundRobin balancer = balance(fleet)) {
      FollowingClient first = clients.open(List.of(fleet.url(0)));
      FollowingClient client = first.at(List.of(balancer.url()));
      Transcript heard = new Transcript();
      Future<?> listening = clients.listen(client, heard, 3);
      assertThat(first.call(ToolRequest.announce(1, "one"), clients.random()).results())
          .isEqualTo(1);
      await().until(() -> heard.ids().size() == 1);
      fleet.replica(0).terminate();
      assertThat(client.call(ToolRequest.announce(2, "two"), clients.random()).results())
          .isEqualTo(1);
      await().until(() -> heard.ids().size() == 2);
      assertThat(fleet.replica(0).awaitEnd(10)).isTrue();
      assertThat(client.call(ToolRequest.announce(3, "three"), clients.random()).results())
          .isEqualTo(1);

      listening.get();
      assertThat(heard.ids()).doesNotHaveDuplicates();
      assertThat(heard.toString()).containsSubsequence("one", "two", "three");
    }
  }

  @Test
  void shouldExitPromptlyWhenNoCallRuns() throws Exception {
    try (Fleet fleet = new Fleet(1)) {
      McpClient _ = McpClient.at(fleet.url(0)).ready();

      fleet.replica(0).terminate();

      assertThat(fleet.replica(0).awaitEnd(2)).as(fleet.output()).isTrue();
    }
  }

  @Test
  void shouldExitWhenRedisIsUnreachableAndTheSignalRepeats() throws Exception {
    try (Fleet fleet = new Fleet(1, SHORT_DRAIN)) {
      McpClient client = McpClient.at(fleet.url(0)).ready();
      FrameStream call = client.stream(count(1, 300));
      call.event();
      fleet.killRedis();

      fleet.replica(0).terminate();
      fleet.replica(0).terminate();

      assertThat(fleet.replica(0).awaitEnd(10)).as(fleet.output()).isTrue();
    }
  }

  @Test
  void shouldFinishCallsOfTheOnlyReplica() throws Exception {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway gateway = alone(server, Map.of())) {
      FollowingClient client = clients.open(List.of(gateway.url()));
      Transcript transcript = new Transcript();
      client.begin(
          count(1, STEPS), clients.random(), transcript, seen -> seen.progress().size() >= 3);
      gateway.terminate();
      await().until(() -> gateway.get("/q/health/ready").statusCode() == 503);

      client.resume(transcript, clients.random());

      assertThat(transcript.progress()).as(transcript.toString()).isEqualTo(upTo(STEPS));
      assertThat(transcript.results()).isEqualTo(1);
      assertThat(gateway.awaitEnd(5)).isTrue();
    }
  }

  @Test
  void shouldAnswerCallsOfTheOnlyReplicaThatOutlastTheDrain() throws Exception {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway gateway = alone(server, SHORT_DRAIN)) {
      FrameStream call = McpClient.at(gateway.url()).ready().stream(count(1, 300));
      call.event();

      gateway.terminate();

      assertThat(call.events().getLast().data()).contains("The gateway was stopped");
      assertThat(gateway.awaitEnd(5)).isTrue();
    }
  }

  private static Gateway alone(NodeFixture server, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("holdfast.upstream.url", server.url().toString());
    all.put("holdfast.stream.retry", "100ms");
    return Gateway.start(all);
  }

  private static RoundRobin balance(Fleet fleet) {
    return RoundRobin.over(fleet.urls().toArray(URI[]::new))
        .probing(i -> fleet.replica(i).url("/q/health/ready"), Duration.ofMillis(100));
  }

  /** Starts calls at the first replica, whose clients then go anywhere, and waits until all run. */
  private List<Future<Transcript>> startCalls(Fleet fleet, RoundRobin balancer, int steps)
      throws Exception {
    return clients.start(
        clients.open(fleet, CALLS, steps),
        call -> {
          call.at(fleet.url(0)).begin(_ -> false);
          call.at(balancer.url()).resume();
        });
  }

  private static void isWhole(Transcript transcript, int steps, Fleet fleet) {
    FleetClients.assertWhole(transcript, steps, fleet);
    assertThat(transcript.errors()).as(transcript + "\n" + fleet.output()).isEmpty();
  }

  private static boolean isResult(Frame.Event event) {
    return event.data().contains("\"result\"");
  }

  private static String message(String members) {
    return "{\"jsonrpc\":\"2.0\"," + members + "}";
  }
}
