package dev.holdfast.faults;

import static dev.holdfast.faults.FleetClients.assertWhole;
import static dev.holdfast.faults.FleetClients.count;
import static dev.holdfast.faults.FleetClients.upTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.SseClient;
import dev.holdfast.testing.ToolRequest;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The promise for a replica that is lost in the middle of calls. */
@Timeout(90)
@Tag("alone")
@SuppressWarnings("NullAway.Init") // JUnit calls start() first.
class TakeOverIT {

  private static final int STEPS = 60;
  private static final int CALLS = 20;

  /** From the loss to the last event: dead-after, a heartbeat, the work, and a busy machine. */
  private static final Duration SETTLED = Duration.ofSeconds(8);

  private static Fleet resumable;
  private static Fleet unresumable;

  private final FleetClients clients = new FleetClients();

  @BeforeAll
  static void start() {
    resumable = new Fleet(2);
    unresumable = new Fleet(2, "--resumable", "false");
  }

  @AfterAll
  static void stop() {
    unresumable.close();
    resumable.close();
  }

  @AfterEach
  void close() {
    clients.close();
  }

  @Test
  void shouldContinueTheCallsOfAKilledReplica() throws Exception {
    Fleet fleet = resumable.restored();
    List<Future<Transcript>> calls = startCalls(fleet);
    fleet.replica(0).kill();

    for (Future<Transcript> call : calls) {
      assertWhole(call.get(), STEPS, fleet);
      assertThat(call.get().longestSilence()).isLessThan(SETTLED);
    }
    await()
        .untilAsserted(() ->
            assertThat(fleet.replica(1).output())
                .contains("stream taken over stream=", "sessions of a lost replica adopted"));
  }

  /** The server has sent only the event id from which the call can be resumed. */
  @Test
  void shouldContinueACallWithoutAnyEvent() throws Exception {
    Fleet fleet = resumable.restored();
    FollowingClient client = clients.open(fleet.urls());
    Transcript transcript = new Transcript();
    client
        .at(List.of(fleet.url(0)))
        .begin(
            ToolRequest.count(1, 1, 6000),
            clients.random(),
            transcript,
            seen -> !seen.lastEventId().isEmpty());
    await().until(() -> fleet.isNoted(client, transcript));
    fleet.replica(0).kill();

    client.resume(transcript, clients.random());
    assertThat(transcript.progress()).as(transcript + fleet.output()).containsExactly(1);
    assertThat(transcript.results()).isEqualTo(1);
  }

  @Test
  void shouldReportAnUnknownOutcomeOfCallsThatCannotContinue() throws Exception {
    Fleet fleet = unresumable.restored();
    List<Future<Transcript>> calls = startCalls(fleet);
    fleet.replica(0).kill();

    for (Future<Transcript> call : calls) {
      Transcript transcript = call.get();
      assertThat(transcript.errors()).as(transcript + fleet.output()).hasSize(1);
      assertThat(transcript.errors().getFirst()).contains("outcome of the request is unknown");
      assertThat(transcript.results()).isZero();
      assertThat(transcript.progress())
          .isEqualTo(upTo(STEPS).subList(0, transcript.progress().size()));
      assertThat(transcript.longestSilence()).isLessThan(SETTLED);
    }
  }

  /** A batch (2025-03-26) is one stream; its requests have outcomes of their own. */
  @Test
  void shouldReportAnUnknownOutcomeOfEveryOpenRequestOfABatch() throws Exception {
    Fleet fleet = unresumable.restored();
    McpClient client = McpClient.at(fleet.url(0), "2025-03-26").ready();
    String batch =
        "[%s,%s,%s]".formatted(count(1, STEPS), ToolRequest.count(2, 1, 1), count(3, STEPS));
    FrameStream cut = client.stream(batch);
    while (!cut.event().data().contains("\"id\":2")) {}
    fleet.replica(0).kill();

    try (FrameStream rest = client.elsewhere(fleet.url(1)).resume(cut.lastEventId())) {
      assertErrors(rest, 1, 3);
    }
  }

  /** All requests of a client over HTTP with SSE share one stream. */
  @Test
  void shouldReportAnUnknownOutcomeOfEveryOpenRequestOverHttpWithSse() throws Exception {
    Fleet fleet = unresumable.restored();
    SseClient client = SseClient.initialized(fleet.url(0).resolve("/sse"));
    client.post(count(1, STEPS));
    client.post(count(2, STEPS));
    FrameStream cut = client.stream();
    for (Set<String> running = new HashSet<>(); running.size() < 2; ) {
      running.add(cut.event().data().replaceAll(".*progressToken\":(\\d+).*", "$1"));
    }
    fleet.replica(0).kill();

    try (FrameStream rest = SseClient.open(fleet.url(1).resolve("/sse"), cut.lastEventId())) {
      assertErrors(rest, 1, 2);
    }
  }

  private static void assertErrors(FrameStream rest, int... ids) {
    Set<String> missing = new HashSet<>();
    for (int id : ids) {
      missing.add("\"id\":" + id + ",");
    }
    while (!missing.isEmpty()) {
      String message = rest.event().data();
      if (message.contains("\"error\"")) {
        assertThat(message).contains("outcome of the request is unknown");
        assertThat(missing.removeIf(message::contains)).as(message).isTrue();
      }
    }
  }

  /** A frozen replica does not know that it was replaced, and tries to write its last events. */
  @Test
  void shouldRefuseWritesOfAFrozenReplicaThatResumes() throws Exception {
    Fleet fleet = resumable.restored();
    FollowingClient client = clients.open(fleet.urls());
    Transcript transcript = new Transcript();
    client
        .at(List.of(fleet.url(0)))
        .begin(count(1, STEPS), clients.random(), transcript, seen -> seen.progress().size() >= 5);
    fleet.replica(0).freeze();
    int before = transcript.progress().size();
    FollowingClient elsewhere = client.at(List.of(fleet.url(1)));
    Future<?> rest = clients.resume(elsewhere, transcript);
    await().atMost(SETTLED).until(() -> transcript.progress().size() > before + 5);
    fleet.replica(0).thaw();

    rest.get();
    assertWhole(transcript, STEPS, fleet);
    // What the other replica shows, now that it is awake.
    Transcript again = new Transcript();
    again.comeFrom(transcript.streamStart());
    client.at(List.of(fleet.url(0))).resume(again, clients.random());
    assertWhole(again, STEPS, fleet);
    assertThat(again.ids()).isEqualTo(transcript.ids());
  }

  @Test
  void shouldTakeOverCallsWithoutAFollowingClient() throws Exception {
    Fleet fleet = unresumable.restored();
    FollowingClient client = clients.open(fleet.urls());
    Transcript transcript = new Transcript();
    client
        .at(List.of(fleet.url(0)))
        .begin(count(1, STEPS), clients.random(), transcript, seen -> seen.progress().size() >= 3);
    fleet.replica(0).kill();

    await().atMost(SETTLED).until(() -> !fleet.isOpen(client, transcript));
    client.at(List.of(fleet.url(1))).resume(transcript, clients.random());
    assertThat(transcript.errors()).hasSize(1);
  }

  @Test
  void shouldMoveTheStandaloneStream() throws Exception {
    Fleet fleet = resumable.restored();
    FollowingClient client = clients.open(List.of(fleet.url(0))).at(List.of(fleet.url(1)));
    Transcript heard = new Transcript();
    Future<?> listening = clients.listen(client, heard, 3);
    hasResult(client.call(ToolRequest.announce(1, "one"), clients.random()));
    await().until(() -> heard.ids().size() == 1);
    fleet.replica(0).kill();
    // While no replica listens to the server.
    hasResult(client.call(ToolRequest.announce(2, "two"), clients.random()));
    await().atMost(SETTLED).until(() -> heard.ids().size() == 2);
    hasResult(client.call(ToolRequest.announce(3, "three"), clients.random()));

    listening.get();
    assertThat(heard.ids()).doesNotHaveDuplicates();
    assertThat(heard.toString()).containsSubsequence("one", "two", "three");
  }

  /** Starts calls at the first replica, whose clients go anywhere, and waits until all run. */
  private List<Future<Transcript>> startCalls(Fleet fleet) throws Exception {
    return clients.start(
        clients.open(fleet, CALLS, STEPS),
        call -> {
          call.at(fleet.url(0)).begin(_ -> false);
          call.resume();
        });
  }

  private static void hasResult(Transcript announced) {
    assertThat(announced.results()).as(announced.toString()).isEqualTo(1);
  }
}
