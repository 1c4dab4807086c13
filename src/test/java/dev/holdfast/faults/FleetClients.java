package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.ClientTimeouts;
import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.ToolRequest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** Clients that call the counting tool through the replicas of a {@link Fleet}. */
final class FleetClients implements AutoCloseable {

  /** Pause of the server between two steps of a call. */
  static final int STEP_MILLIS = 100;

  /** More than any test freezes a process, or cuts it off. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final Random random = new Random(20_251_125);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /**
   * A call of the counting tool.
   *
   * @param number position among the calls that start together, from 0
   * @param random decides when the client disconnects
   */
  record Call(
      int number, FollowingClient client, String request, Random random, Transcript transcript) {

    /** The same call, with all further requests to one replica. */
    Call at(URI replica) {
      return new Call(number, client.at(List.of(replica)), request, random, transcript);
    }

    /** Sends the call, and follows it until it ends or the client leaves. */
    void begin(Predicate<Transcript> left) throws InterruptedException {
      client.begin(request, random, transcript, left);
    }

    /** Follows the call until it ends. */
    void resume() throws InterruptedException {
      client.resume(transcript, random);
    }
  }

  /** What the client of a call does. */
  interface Script {
    void run(Call call) throws Exception;
  }

  HttpClient http() {
    return http;
  }

  Random random() {
    return random;
  }

  /** Opens a session through one of the replicas. */
  FollowingClient open(List<URI> replicas) throws IOException, InterruptedException {
    return new FollowingClient(http, replicas, random);
  }

  /**
   * Opens a session for a call at one replica. Its client keeps its connections, however long they
   * are silent.
   */
  Call open(int number, URI replica, String request) throws IOException, InterruptedException {
    FollowingClient client =
        new FollowingClient(http, List.of(replica), random, ClientTimeouts.with(PATIENCE));
    return new Call(number, client, request, new Random(number), new Transcript());
  }

  /** Opens the sessions of all calls first, so that no call ends before the last one begins. */
  List<Call> open(Fleet fleet, int calls, int steps) throws IOException, InterruptedException {
    List<Call> all = new ArrayList<>();
    for (int i = 0; i < calls; i++) {
      FollowingClient client = open(fleet.urls());
      all.add(new Call(i, client, count(i, steps), new Random(i), new Transcript()));
    }
    return all;
  }

  /** Runs a script for each call, and waits until all calls make progress. */
  List<Future<Transcript>> start(List<Call> calls, Script script) {
    List<Future<Transcript>> running = new ArrayList<>();
    for (Call call : calls) {
      running.add(
          threads.submit(() -> {
            script.run(call);
            return call.transcript();
          }));
    }
    await()
        .untilAsserted(() ->
            assertThat(calls)
                .extracting(Call::transcript)
                .allSatisfy(
                    each -> assertThat(each.progress()).as("%s", each).hasSizeGreaterThan(1)));
    return running;
  }

  /** Follows the standalone stream of a session until it has brought some events. */
  Future<?> listen(FollowingClient client, Transcript transcript, int events) {
    return threads.submit(() -> {
      client.listen(transcript, random, seen -> seen.ids().size() >= events);
      return null;
    });
  }

  /** Follows the standalone stream of a session for good. */
  Transcript listen(FollowingClient client) {
    Transcript transcript = new Transcript();
    var _ = listen(client, transcript, Integer.MAX_VALUE);
    return transcript;
  }

  /** Resumes a call on a thread of its own. */
  Future<?> resume(FollowingClient client, Transcript transcript) {
    return threads.submit(() -> {
      client.resume(transcript, random);
      return null;
    });
  }

  /** Asserts that a call has received every step in order, one result, and no event twice. */
  static void assertWhole(Transcript transcript, int steps, Fleet fleet) {
    assertWhole(transcript, steps, fleet.output());
  }

  /** Asserts the same, where the replicas have logged this. */
  static void assertWhole(Transcript transcript, int steps, String output) {
    String details = transcript + "\n" + output;
    assertThat(transcript.progress()).as(details).isEqualTo(upTo(steps));
    assertThat(transcript.results()).as(details).isEqualTo(1);
    assertThat(transcript.ids()).as(details).doesNotHaveDuplicates();
  }

  /** The numbers from 1 to the last step. */
  static List<Integer> upTo(int steps) {
    return IntStream.rangeClosed(1, steps).boxed().toList();
  }

  /** A call that counts with {@link #STEP_MILLIS}. */
  static String count(int id, int steps) {
    return ToolRequest.count(id, steps, STEP_MILLIS);
  }

  @Override
  public void close() {
    threads.shutdownNow();
    http.close();
  }
}
