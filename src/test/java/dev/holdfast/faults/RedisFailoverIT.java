package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.ClusterFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.SentinelFixture;
import dev.holdfast.testing.ToolRequest;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls through two replicas whose Redis loses a server in their middle. */
@Timeout(120)
class RedisFailoverIT {

  private static final int CALLS = 12;
  private static final int STEPS = 50;
  private static final int STEP_MILLIS = 100;
  private static final List<Integer> ALL = IntStream.rangeClosed(1, STEPS).boxed().toList();
  private static final Duration READY_AGAIN = Duration.ofSeconds(20);

  /** Without a server lost, a call of the steps above is never silent for so long. */
  private static final Duration UNDISTURBED = Duration.ofMillis(1500);

  private final Random random = new Random(20_251_125);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<FollowingClient> clients = new ArrayList<>();
  private final List<Transcript> transcripts = new ArrayList<>();

  @AfterEach
  void close() {
    threads.shutdownNow();
    http.close();
  }

  private static Fleet fleet(SentinelFixture servers) {
    return new Fleet(
        2,
        Map.of(
            "quarkus.redis.client-type",
            "sentinel",
            "quarkus.redis.master-name",
            SentinelFixture.NAME,
            "quarkus.redis.hosts",
            servers.hosts()));
  }

  @Test
  void shouldGoOnAfterAFailoverAndSayWhatItHasLost() throws Exception {
    try (SentinelFixture servers = SentinelFixture.start();
        Fleet fleet = fleet(servers)) {
      loseNothing(servers, fleet);
      clients.clear();
      transcripts.clear();
      loseTheNewest(servers, fleet);
    }
  }

  /** What was answered had been replicated: so the new primary has everything. */
  private void loseNothing(SentinelFixture servers, Fleet fleet) throws Exception {
    long begun = System.nanoTime();
    List<Future<?>> calls = startCalls(fleet);
    RedisFixture primary = servers.primary();
    servers.putWritesOff(Duration.ofSeconds(20));
    primary.kill();
    await().until(() -> !fleet.isReady(0) && !fleet.isReady(1));
    servers.awaitFailover(primary);
    await().atMost(READY_AGAIN).until(() -> fleet.isReady(0) && fleet.isReady(1));

    for (int i = 0; i < CALLS; i++) {
      calls.get(i).get();
      isWhole(transcripts.get(i), fleet);
    }
    print("Redis failed over by Sentinel", begun);
  }

  /**
   * The last replica had not heard of the newest events. Every other client had left before they
   * were written, and comes back for them: a client that stays may have received them.
   */
  private void loseTheNewest(SentinelFixture servers, Fleet fleet) throws Exception {
    long begun = System.nanoTime();
    AtomicBoolean leave = new AtomicBoolean();
    CountDownLatch back = new CountDownLatch(1);
    List<Future<?>> calls = startCalls(fleet, _ -> leave.get(), back);
    RedisFixture primary = servers.primary();
    servers.stopReplication();
    awaitSteps(2);
    leave.set(true);
    awaitSteps(4);
    primary.kill();
    servers.awaitFailover(primary);
    back.countDown();

    for (int i = 0; i < CALLS; i++) {
      // None hangs.
      calls.get(i).get();
      Transcript transcript = transcripts.get(i);
      String details = transcript + "\n" + fleet.output();
      assertThat(transcript.ids()).as(details).doesNotHaveDuplicates();
      assertThat(transcript.progress()).as(details).isSorted().doesNotHaveDuplicates();
      boolean told = isToldOfAGap(transcript) || !transcript.errors().isEmpty();
      assertThat(told || transcript.progress().equals(ALL)).as(details).isTrue();
    }
    print("Redis failed over by Sentinel, its newest writes lost", begun);
    FollowingClient afterwards = new FollowingClient(http, fleet.urls(), random);
    isWhole(afterwards.call(count(0, 3), random), fleet, 3);
  }

  /** Waits until somebody who stays has seen so many more steps. */
  private void awaitSteps(int more) {
    Transcript staying = transcripts.getFirst();
    int before = staying.progress().size();
    await().until(() -> staying.progress().size() >= before + more);
  }

  private static boolean isToldOfAGap(Transcript transcript) {
    return transcript.toString().contains("-- connected: 410");
  }

  @Test
  void shouldGoOnWithTheOtherSlotsWhenAServerOfAClusterIsLost() throws Exception {
    try (ClusterFixture cluster = ClusterFixture.start();
        Fleet fleet =
            new Fleet(
                2,
                Map.of(
                    "quarkus.redis.client-type",
                    "cluster",
                    "quarkus.redis.hosts",
                    cluster.hosts()))) {
      long begun = System.nanoTime();
      List<Future<?>> calls = startCalls(fleet);
      RedisFixture lost = cluster.primaryOf(key(0));
      List<Boolean> hit = new ArrayList<>();
      for (int i = 0; i < CALLS; i++) {
        hit.add(cluster.primaryOf(key(i)) == lost);
      }
      assertThat(hit).contains(true, false);
      lost.kill();
      await().until(() -> !fleet.isReady(0) && !fleet.isReady(1));
      cluster.primaryOf(key(0), lost);
      await().atMost(READY_AGAIN).until(() -> fleet.isReady(0) && fleet.isReady(1));

      for (int i = 0; i < CALLS; i++) {
        calls.get(i).get();
        Transcript transcript = transcripts.get(i);
        if (!hit.get(i)) {
          isWhole(transcript, fleet);
          assertThat(transcript.longestSilence()).as(fleet.output()).isLessThan(UNDISTURBED);
        } else if (!isToldOfAGap(transcript)) {
          // Its replica had everything, or says that it has not.
          isWhole(transcript, fleet);
        }
        isWhole(clients.get(i).call(count(CALLS + i, 3), random), fleet, 3);
      }
      print("a primary of a Redis Cluster lost", begun);
    }
  }

  /** Prints its line of the table in docs/faults.md. */
  private void print(String fault, long since) {
    List<CallRecord> records =
        transcripts.stream().map(call -> CallRecord.ofCall(call, STEPS, since)).toList();
    String load =
        "%d × %d/s, %d s".formatted(CALLS, 1000 / STEP_MILLIS, STEPS * STEP_MILLIS / 1000);
    System.out.println(new FaultTableRow(fault, load, records));
  }

  private String key(int client) {
    return "holdfast:{" + clients.get(client).session() + "}";
  }

  private List<Future<?>> startCalls(Fleet fleet) throws Exception {
    return startCalls(fleet, _ -> false, new CountDownLatch(0));
  }

  /**
   * Starts calls at both replicas, and waits until all run.
   *
   * @param left tells when every other client goes away
   * @param back for which it then waits
   */
  private List<Future<?>> startCalls(Fleet fleet, Predicate<Transcript> left, CountDownLatch back)
      throws Exception {
    for (int i = 0; i < CALLS; i++) {
      // All of them first, so that no call ends before the last one begins.
      clients.add(new FollowingClient(http, fleet.urls(), random));
    }
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      FollowingClient client = clients.get(i);
      Transcript transcript = new Transcript();
      transcripts.add(transcript);
      String request = count(i);
      Random own = new Random(i);
      boolean leaves = i % 2 == 1;
      running.add(
          threads.submit(() -> {
            client.begin(request, own, transcript, leaves ? left : _ -> false);
            if (leaves) {
              back.await();
            }
            client.resume(transcript, own);
            return null;
          }));
    }
    await()
        .until(() -> transcripts.stream().allMatch(transcript -> transcript.progress().size() > 1));
    return running;
  }

  private static void isWhole(Transcript transcript, Fleet fleet) {
    isWhole(transcript, fleet, STEPS);
  }

  private static void isWhole(Transcript transcript, Fleet fleet, int steps) {
    String details = transcript + "\n" + fleet.output();
    assertThat(transcript.progress()).as(details).isEqualTo(ALL.subList(0, steps));
    assertThat(transcript.results()).as(details).isEqualTo(1);
    assertThat(transcript.ids()).as(details).doesNotHaveDuplicates();
  }

  private static String count(int id) {
    return count(id, STEPS);
  }

  private static String count(int id, int steps) {
    return ToolRequest.of(
        id, "count", "{\"n\":%d,\"intervalMs\":%d}".formatted(steps, STEP_MILLIS));
  }
}
