package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.ResourceUsage;
import dev.holdfast.testing.ToolRequest;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Sessions come and go, calls are cut, resumed and left alone, a replica is killed now and then;
 * and after each round, when everything has expired, nothing of it is left: no key, no connection,
 * no thread, no timer, no memory. With {@code -Dholdfast.faults=long} for ten minutes.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class SoakIT {

  private static final long SEED = Long.getLong("holdfast.seed", 20_251_125L);
  private static final int ROUNDS =
      Integer.getInteger("holdfast.rounds", LongRun.REQUESTED ? 45 : 3);
  private static final int SESSIONS = LongRun.REQUESTED ? 40 : 16;
  private static final int CALLS = LongRun.REQUESTED ? 6 : 3;
  private static final int STEPS = 30;
  private static final List<Integer> ALL = IntStream.rangeClosed(1, STEPS).boxed().toList();

  /** Everything expires within seconds. */
  private static final Map<String, String> SHORT_LIVED =
      Map.of(
          "holdfast.session.idle-timeout", "5s",
          "holdfast.stream.event-ttl", "6s",
          "holdfast.stream.completed-ttl", "1s",
          "holdfast.cleanup-interval", "500ms",
          "holdfast.redis.timeout", "500ms",
          "holdfast.cluster.heartbeat", "200ms",
          "holdfast.cluster.dead-after", "3s");

  private static final Duration TO_EXPIRE = Duration.ofSeconds(60);

  /** Is there as long as any replica is. */
  private static final String REPLICAS = "holdfast:replicas";

  /** Is there for ever. */
  private static final String LAYOUT = "holdfast:layout";

  /** Connections to the server that may be used again, and what the JVM opens when it likes to. */
  private static final int SLACK = SESSIONS + 16;

  private static final long HEAP_SLACK = 4_000_000;

  @Test
  void shouldLeaveNothingBehind() throws Exception {
    try (Fleet fleet = new Fleet(2, SHORT_LIVED)) {
      List<ResourceUsage> history = new ArrayList<>();
      for (int round = 0; round < ROUNDS; round++) {
        churn(fleet, round);
        awaitQuiet(fleet);
        ResourceUsage vitals = ResourceUsage.of(fleet.replica(0));
        System.out.printf("round %d: %s%n", round, vitals);
        history.add(vitals);
        assertThat(vitals.leftovers()).as("round %d", round).isEmpty();
      }
      assertFlat(history);
    }
  }

  /** The first round warms up: classes are loaded, pools filled. */
  private static void assertFlat(List<ResourceUsage> history) {
    ResourceUsage first = history.get(1);
    ResourceUsage last = history.getLast();
    String details = history.toString();
    assertThat(last.descriptors()).as(details).isLessThanOrEqualTo(first.descriptors() + SLACK);
    assertThat(last.threads()).as(details).isLessThanOrEqualTo(first.threads() + SLACK);
    assertThat(last.timers()).as(details).isLessThanOrEqualTo(first.timers() + SLACK);
    assertThat(last.heap()).as(details).isLessThanOrEqualTo(first.heap() + HEAP_SLACK);
  }

  private static void awaitQuiet(Fleet fleet) {
    await()
        .atMost(TO_EXPIRE)
        .pollInterval(Duration.ofMillis(250))
        .untilAsserted(
            () -> assertThat(fleet.redis().keys()).containsExactlyInAnyOrder(REPLICAS, LAYOUT));
    assertThat(fleet.redis().command("ZCARD", REPLICAS)).isEqualTo(":2");
    assertThat(fleet.redis().connections()).isEqualTo(4);
    await()
        .atMost(TO_EXPIRE)
        .pollInterval(Duration.ofMillis(500))
        .untilAsserted(() -> assertThat(ResourceUsage.of(fleet.replica(0)).leftovers()).isEmpty());
  }

  private static void churn(Fleet fleet, int round) throws Exception {
    // Closed after each round, with all its connections.
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> clients = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        Random random = new Random(SEED + 1000L * round + i);
        FollowingClient client = new FollowingClient(http, fleet.urls(), random);
        // The other one may just be away.
        FollowingClient safe = client.at(List.of(fleet.url(0)));
        clients.add(threads.submit(() -> live(client, safe, random)));
      }
      if (round % 2 == 1) {
        fleet.replica(1).kill();
        fleet.restart(1);
      }
      for (Future<?> client : clients) {
        client.get();
      }
    }
  }

  /** The life of one session. */
  private static Void live(FollowingClient client, FollowingClient safe, Random random)
      throws Exception {
    for (int id = 1; id <= CALLS; id++) {
      Transcript call = new Transcript();
      int cutAfter = random.nextInt(STEPS);
      client.begin(count(id), random, call, seen -> seen.progress().size() >= cutAfter);
      // Cut before it had any event id, a client knows of nothing to resume.
      if (!call.lastEventId().isEmpty() && random.nextInt(4) > 0) {
        client.resume(call, random);
        // With its replica dies a call of which the server has said nothing yet: none can go on.
        List<Integer> expected = call.errors().isEmpty() ? ALL : List.of();
        assertThat(call.progress()).as("seed %d%n%s", SEED, call).isEqualTo(expected);
        assertThat(call.errors()).allMatch(error -> error.contains("The replica that ran"));
      }
    }
    client.listen(new Transcript(), random, seen -> true);
    if (random.nextBoolean()) {
      safe.end(random);
    }
    return null;
  }

  private static String count(int id) {
    return ToolRequest.count(id, STEPS, 10);
  }
}
