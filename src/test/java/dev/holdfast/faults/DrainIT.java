package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RoundRobin;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The promise for a replica that is stopped in the middle of calls. */
@Timeout(120)
class DrainIT {

  private static final int STEPS = 40;
  private static final int STEP_MILLIS = 100;
  private static final int CALLS = 20;

  /** Still running when the time of a hasty drain is over, however long all the rest takes. */
  private static final int MANY_STEPS = 80;

  /** Ended by the drain, and not by counting. */
  private static final int ENDLESS = 300;

  private static final Map<String, String> HASTY = Map.of("holdfast.stream.drain-timeout", "1s");

  /** Most of it is for a machine that is busy; a quiet one needs little more than {@code retry}. */
  private static final Duration UNNOTICED = Duration.ofSeconds(5);

  private final Random random = new Random(20_251_125);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void close() {
    threads.shutdownNow();
    http.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"true", "false"})
  void shouldFinishCallsWhileTheirClientsFollowFromElsewhere(String resumable) throws Exception {
    try (Fleet fleet = new Fleet(2, "--resumable", resumable);
        RoundRobin balancer = balance(fleet)) {
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

  @Test
  void shouldHandOverCallsThatRunForTooLong() throws Exception {
    try (Fleet fleet = new Fleet(2, HASTY);
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
  void shouldSayOfCallsThatCannotBeHandedOverThatTheirOutcomeIsUnknown() throws Exception {
    try (Fleet fleet = new Fleet(2, HASTY, "--resumable", "false");
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
  void shouldTakeNothingNewButStillAnswer() throws Exception {
    try (Fleet fleet = new Fleet(2)) {
      Gateway stopping = fleet.replica(0);
      McpClient client = McpClient.at(stopping.url()).ready();
      FrameStream call = client.stream(count(1, 30));
      call.event();

      stopping.terminate();
      await().until(() -> readiness(stopping) == 503);
      // A balancer may take a moment to see that; only then is anybody refused.
      await().until(() -> client.post(message("\"id\":8,\"method\":\"ping\"")).statusCode() != 200);
      HttpResponse<String> request = client.post(message("\"id\":9,\"method\":\"ping\""));
      HttpResponse<String> stream = client.resumeWhole(call.lastEventId());
      HttpResponse<String> session = McpClient.at(stopping.url()).initialized();

      assertThat(List.of(request, stream, session))
          .allSatisfy(answer -> {
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).contains("1");
          });
      assertThat(request.body()).contains("\"id\":9");
      assertThat(client.post(message("\"method\":\"notifications/x\"")).statusCode())
          .isEqualTo(202);
      assertThat(stopping.awaitEnd(10)).isTrue();
    }
  }

  @Test
  void shouldMoveTheStandaloneStream() throws Exception {
    try (Fleet fleet = new Fleet(2);
        RoundRobin balancer = balance(fleet)) {
      FollowingClient first = new FollowingClient(http, List.of(fleet.url(0)), random);
      FollowingClient client = first.at(List.of(balancer.url()));
      Transcript heard = new Transcript();
      Future<?> listening =
          threads.submit(() -> {
            client.listen(heard, random, seen -> seen.ids().size() >= 3);
            return null;
          });
      assertThat(first.call(announce(1, "one"), random).results()).isEqualTo(1);
      await().until(() -> heard.ids().size() == 1);
      fleet.replica(0).terminate();
      assertThat(client.call(announce(2, "two"), random).results()).isEqualTo(1);
      await().until(() -> heard.ids().size() == 2);
      assertThat(fleet.replica(0).awaitEnd(10)).isTrue();
      assertThat(client.call(announce(3, "three"), random).results()).isEqualTo(1);

      listening.get();
      assertThat(heard.ids()).doesNotHaveDuplicates();
      assertThat(heard.toString()).containsSubsequence("one", "two", "three");
    }
  }

  @Test
  void shouldBeGoneSoonWhenNothingRuns() throws Exception {
    try (Fleet fleet = new Fleet(1)) {
      McpClient _ = McpClient.at(fleet.url(0)).ready();

      fleet.replica(0).terminate();

      assertThat(fleet.replica(0).awaitEnd(2)).as(fleet.output()).isTrue();
    }
  }

  @Test
  void shouldNotHangWhenRedisIsAwayAndItIsAskedTwice() throws Exception {
    try (Fleet fleet = new Fleet(1, HASTY)) {
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
      FollowingClient client = new FollowingClient(http, List.of(gateway.url()), random);
      Transcript transcript = new Transcript();
      client.begin(count(1), random, transcript, seen -> seen.progress().size() >= 3);
      gateway.terminate();
      await().until(() -> readiness(gateway) == 503);

      client.resume(transcript, random);

      assertThat(transcript.progress()).as(transcript.toString()).isEqualTo(upTo(STEPS));
      assertThat(transcript.results()).isEqualTo(1);
      assertThat(gateway.awaitEnd(5)).isTrue();
    }
  }

  @Test
  void shouldAnswerCallsOfTheOnlyReplicaThatRunForTooLong() throws Exception {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway gateway = alone(server, HASTY)) {
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
        .probing("/q/health/ready", Duration.ofMillis(100));
  }

  /** Starts calls at the first replica, whose clients then go anywhere, and waits until all run. */
  private List<Future<Transcript>> startCalls(Fleet fleet, RoundRobin balancer, int steps)
      throws Exception {
    List<FollowingClient> clients = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      // All of them first, so that no call ends before the last one begins.
      clients.add(new FollowingClient(http, fleet.urls(), random));
    }
    List<Future<Transcript>> running = new ArrayList<>();
    List<Transcript> transcripts = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      FollowingClient client = clients.get(i);
      Transcript transcript = new Transcript();
      transcripts.add(transcript);
      String request = count(i, steps);
      Random own = new Random(i);
      running.add(
          threads.submit(() -> {
            client.at(List.of(fleet.url(0))).begin(request, own, transcript, seen -> false);
            client.at(List.of(balancer.url())).resume(transcript, own);
            return transcript;
          }));
    }
    await()
        .until(() -> transcripts.stream().allMatch(transcript -> transcript.progress().size() > 1));
    return running;
  }

  private static List<Integer> upTo(int steps) {
    return IntStream.rangeClosed(1, steps).boxed().toList();
  }

  private static void isWhole(Transcript transcript, int steps, Fleet fleet) {
    String details = transcript + "\n" + fleet.output();
    assertThat(transcript.progress()).as(details).isEqualTo(upTo(steps));
    assertThat(transcript.results()).as(details).isEqualTo(1);
    assertThat(transcript.errors()).as(details).isEmpty();
    assertThat(transcript.ids()).as(details).doesNotHaveDuplicates();
  }

  private int readiness(Gateway gateway) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(gateway.url("/q/health/ready")).build();
    return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  private static String message(String members) {
    return "{\"jsonrpc\":\"2.0\"," + members + "}";
  }

  private static String count(int id) {
    return count(id, STEPS);
  }

  private static String count(int id, int steps) {
    return ToolRequest.of(
        id, "count", "{\"n\":%d,\"intervalMs\":%d}".formatted(steps, STEP_MILLIS));
  }

  private static String announce(int id, String text) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"announce",\
    "arguments":{"text":"%s"}}}\
    """
        .formatted(id, text);
  }
}
