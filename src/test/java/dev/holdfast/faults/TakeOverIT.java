package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.ToolRequest;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The promise for a replica that is lost in the middle of calls. */
@Timeout(90)
class TakeOverIT {

  private static final int STEPS = 60;
  private static final int STEP_MILLIS = 100;
  private static final int CALLS = 20;
  private static final List<Integer> ALL = IntStream.rangeClosed(1, STEPS).boxed().toList();

  /** From the loss to the last word: dead-after, a beat, the work, and a machine that is busy. */
  private static final Duration SETTLED = Duration.ofSeconds(8);

  private final Random random = new Random(20_251_125);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void close() {
    threads.shutdownNow();
    http.close();
  }

  @Test
  void shouldGoOnWithTheCallsOfAKilledReplica() throws Exception {
    try (Fleet fleet = new Fleet(2)) {
      List<Future<Transcript>> calls = startCalls(fleet, CALLS);
      fleet.replica(0).kill();

      for (Future<Transcript> call : calls) {
        isWhole(call.get(), fleet);
        assertThat(call.get().longestSilence()).isLessThan(SETTLED);
      }
    }
  }

  /** The server has only said that the call can be resumed, and nothing else yet. */
  @Test
  void shouldGoOnWithACallThatHasBroughtNothingYet() throws Exception {
    try (Fleet fleet = new Fleet(2)) {
      FollowingClient client = new FollowingClient(http, fleet.urls(), random);
      Transcript transcript = new Transcript();
      client
          .at(List.of(fleet.url(0)))
          .begin(count(1, 2, 6000), random, transcript, seen -> !seen.lastEventId().isEmpty());
      await().until(() -> fleet.isNoted(client, transcript));
      fleet.replica(0).kill();

      client.resume(transcript, random);
      assertThat(transcript.progress()).as(transcript + fleet.output()).containsExactly(1, 2);
      assertThat(transcript.results()).isEqualTo(1);
    }
  }

  @Test
  void shouldSayOfCallsThatCannotGoOnThatTheirOutcomeIsUnknown() throws Exception {
    try (Fleet fleet = new Fleet(2, "--resumable", "false")) {
      List<Future<Transcript>> calls = startCalls(fleet, CALLS);
      fleet.replica(0).kill();

      for (Future<Transcript> call : calls) {
        Transcript transcript = call.get();
        assertThat(transcript.errors()).as(transcript + fleet.output()).hasSize(1);
        assertThat(transcript.errors().getFirst()).contains("outcome of the request is unknown");
        assertThat(transcript.results()).isZero();
        assertThat(transcript.progress()).isEqualTo(ALL.subList(0, transcript.progress().size()));
        assertThat(transcript.longestSilence()).isLessThan(SETTLED);
      }
    }
  }

  /** A frozen replica does not know that it was replaced, and would write what it has in hand. */
  @Test
  void shouldRefuseWhatAFrozenReplicaWritesWhenItWakes() throws Exception {
    try (Fleet fleet = new Fleet(2)) {
      FollowingClient client = new FollowingClient(http, fleet.urls(), random);
      Transcript transcript = new Transcript();
      client
          .at(List.of(fleet.url(0)))
          .begin(count(1), random, transcript, seen -> seen.progress().size() >= 5);
      fleet.replica(0).freeze();
      int before = transcript.progress().size();
      FollowingClient elsewhere = client.at(List.of(fleet.url(1)));
      Future<?> rest =
          threads.submit(() -> {
            elsewhere.resume(transcript, random);
            return null;
          });
      await().atMost(SETTLED).until(() -> transcript.progress().size() > before + 5);
      fleet.replica(0).thaw();

      rest.get();
      isWhole(transcript, fleet);
      // What the other replica shows, now that it is awake.
      Transcript again = new Transcript();
      again.comeFrom(transcript.streamStart());
      client.at(List.of(fleet.url(0))).resume(again, random);
      isWhole(again, fleet);
      assertThat(again.ids()).isEqualTo(transcript.ids());
    }
  }

  @Test
  void shouldTakeOverWhatNobodyFollows() throws Exception {
    try (Fleet fleet = new Fleet(2, "--resumable", "false")) {
      FollowingClient client = new FollowingClient(http, fleet.urls(), random);
      Transcript transcript = new Transcript();
      client
          .at(List.of(fleet.url(0)))
          .begin(count(1), random, transcript, seen -> seen.progress().size() >= 3);
      fleet.replica(0).kill();

      await().atMost(SETTLED).until(() -> !fleet.isOpen(client, transcript));
      client.at(List.of(fleet.url(1))).resume(transcript, random);
      assertThat(transcript.errors()).hasSize(1);
    }
  }

  @Test
  void shouldMoveTheStandaloneStream() throws Exception {
    try (Fleet fleet = new Fleet(2)) {
      FollowingClient client =
          new FollowingClient(http, List.of(fleet.url(0)), random).at(List.of(fleet.url(1)));
      Transcript heard = new Transcript();
      Future<?> listening =
          threads.submit(() -> {
            client.listen(heard, random, seen -> seen.ids().size() >= 3);
            return null;
          });
      isWhole(client.call(announce(1, "one"), random));
      await().until(() -> heard.ids().size() == 1);
      fleet.replica(0).kill();
      // While nobody listens to the server.
      isWhole(client.call(announce(2, "two"), random));
      await().atMost(SETTLED).until(() -> heard.ids().size() == 2);
      isWhole(client.call(announce(3, "three"), random));

      listening.get();
      assertThat(heard.ids()).doesNotHaveDuplicates();
      assertThat(heard.toString()).containsSubsequence("one", "two", "three");
    }
  }

  /** Starts calls at the first replica, whose clients go anywhere, and waits until all run. */
  private List<Future<Transcript>> startCalls(Fleet fleet, int calls) throws Exception {
    List<FollowingClient> clients = new ArrayList<>();
    for (int i = 0; i < calls; i++) {
      // All of them first, so that no call ends before the last one begins.
      clients.add(new FollowingClient(http, fleet.urls(), random));
    }
    List<Future<Transcript>> running = new ArrayList<>();
    List<Transcript> transcripts = new ArrayList<>();
    for (int i = 0; i < calls; i++) {
      FollowingClient client = clients.get(i);
      Transcript transcript = new Transcript();
      transcripts.add(transcript);
      String request = count(i);
      Random own = new Random(i);
      running.add(
          threads.submit(() -> {
            client.at(List.of(fleet.url(0))).begin(request, own, transcript, seen -> false);
            client.resume(transcript, own);
            return transcript;
          }));
    }
    await()
        .until(() -> transcripts.stream().allMatch(transcript -> transcript.progress().size() > 1));
    return running;
  }

  private static void isWhole(Transcript transcript, Fleet fleet) {
    String details = transcript + "\n" + fleet.output();
    assertThat(transcript.progress()).as(details).isEqualTo(ALL);
    assertThat(transcript.results()).as(details).isEqualTo(1);
    assertThat(transcript.ids()).as(details).doesNotHaveDuplicates();
  }

  private static void isWhole(Transcript announced) {
    assertThat(announced.results()).as(announced.toString()).isEqualTo(1);
  }

  private static String count(int id) {
    return count(id, STEPS, STEP_MILLIS);
  }

  private static String count(int id, int steps, int stepMillis) {
    return ToolRequest.of(id, "count", "{\"n\":%d,\"intervalMs\":%d}".formatted(steps, stepMillis));
  }

  private static String announce(int id, String text) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"announce",\
    "arguments":{"text":"%s"}}}\
    """
        .formatted(id, text);
  }
}
