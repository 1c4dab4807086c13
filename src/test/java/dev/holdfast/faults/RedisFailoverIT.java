package dev.holdfast.faults;

import static dev.holdfast.faults.FleetClients.STEP_MILLIS;
import static dev.holdfast.faults.FleetClients.assertWhole;
import static dev.holdfast.faults.FleetClients.count;
import static dev.holdfast.faults.FleetClients.upTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.ClusterFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.SentinelFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls through two replicas whose Redis loses a server in their middle. */
@Timeout(120)
@Tag("alone")
class RedisFailoverIT {

  private static final int CALLS = 12;
  private static final int STEPS = 50;
  private static final Duration READY_AGAIN = Duration.ofSeconds(20);

  private final FleetClients clients = new FleetClients();
  private List<FleetClients.Call> calls = List.of();

  @AfterEach
  void close() {
    clients.close();
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
  void shouldContinueAfterAFailoverAndReportLostEvents() throws Exception {
    try (SentinelFixture servers = SentinelFixture.start();
        Fleet fleet = fleet(servers)) {
      loseNothing(servers, fleet);
      loseTheNewest(servers, fleet);
    }
  }

  /** Every acknowledged write was replicated, so the new primary has all events. */
  private void loseNothing(SentinelFixture servers, Fleet fleet) throws Exception {
    long begun = System.nanoTime();
    List<Future<Transcript>> running = startCalls(fleet);
    RedisFixture primary = servers.primary();
    servers.putWritesOff(Duration.ofSeconds(20));
    primary.kill();
    await().until(() -> !fleet.isReady(0) && !fleet.isReady(1));
    servers.awaitFailover(primary);
    await().atMost(READY_AGAIN).until(() -> fleet.isReady(0) && fleet.isReady(1));

    for (int i = 0; i < CALLS; i++) {
      assertWhole(running.get(i).get(), STEPS, fleet);
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
    servers.awaitInSync(); // On a busy machine another failover would lose the sessions.
    List<Future<Transcript>> running = startCalls(fleet, _ -> leave.get(), back);
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
      Transcript transcript = running.get(i).get();
      String details = transcript + "\n" + fleet.output();
      assertThat(transcript.ids()).as(details).doesNotHaveDuplicates();
      assertThat(transcript.progress()).as(details).isSorted().doesNotHaveDuplicates();
      boolean told = isToldOfAGap(transcript) || !transcript.errors().isEmpty();
      assertThat(told || transcript.progress().equals(upTo(STEPS))).as(details).isTrue();
    }
    print("Redis failed over by Sentinel, its newest writes lost", begun);
    FollowingClient afterwards = clients.open(fleet.urls());
    assertWhole(afterwards.call(count(0, 3), clients.random()), 3, fleet);
  }

  /** Waits until somebody who stays has seen so many more steps. */
  private void awaitSteps(int more) {
    Transcript staying = calls.getFirst().transcript();
    int before = staying.progress().size();
    await().until(() -> staying.progress().size() >= before + more);
  }

  private static boolean isToldOfAGap(Transcript transcript) {
    return transcript.toString().contains("-- connected: 410");
  }

  @Test
  void shouldContinueOnTheOtherSlotsWhenAClusterLosesAServer() throws Exception {
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
      List<Future<Transcript>> running = startCalls(fleet);
      RedisFixture lost = cluster.primaryOf(key(0));
      List<Boolean> hit = new ArrayList<>();
      for (int i = 0; i < CALLS; i++) {
        hit.add(cluster.primaryOf(key(i)) == lost);
      }
      assertThat(hit).contains(true, false);
      lost.kill();
      // The sessions of the other servers go on.
      assertThat(fleet.isReady(0) && fleet.isReady(1)).as(fleet.output()).isTrue();
      cluster.primaryOf(key(0), lost);
      assertThat(fleet.isReady(0) && fleet.isReady(1)).as(fleet.output()).isTrue();

      List<Duration> outages = new ArrayList<>();
      for (int i = 0; i < CALLS; i++) {
        if (hit.get(i)) {
          outages.add(running.get(i).get().longestSilence());
        }
      }
      for (int i = 0; i < CALLS; i++) {
        Transcript transcript = running.get(i).get();
        if (!hit.get(i)) {
          assertWhole(transcript, STEPS, fleet);
          assertThat(transcript.longestSilence())
              .as(fleet.output())
              .isLessThan(Collections.min(outages));
        } else if (!isToldOfAGap(transcript)) {
          // Its replica had everything, or says that it has not.
          assertWhole(transcript, STEPS, fleet);
        }
        assertWhole(calls.get(i).client().call(count(CALLS + i, 3), clients.random()), 3, fleet);
      }
      print("a primary of a Redis Cluster lost", begun);
    }
  }

  /** Prints its line of the table in docs/faults.md. */
  private void print(String fault, long since) {
    List<CallRecord> records =
        calls.stream().map(call -> CallRecord.ofCall(call.transcript(), STEPS, since)).toList();
    String load =
        "%d × %d/s, %d s".formatted(CALLS, 1000 / STEP_MILLIS, STEPS * STEP_MILLIS / 1000);
    System.out.println(new FaultTableRow(fault, load, records));
  }

  private String key(int client) {
    return "holdfast:{" + calls.get(client).client().session() + "}";
  }

  private List<Future<Transcript>> startCalls(Fleet fleet) throws Exception {
    return startCalls(fleet, _ -> false, new CountDownLatch(0));
  }

  /**
   * Starts calls at both replicas, and waits until all run.
   *
   * @param left tells when every other client goes away
   * @param back for which it then waits
   */
  private List<Future<Transcript>> startCalls(
      Fleet fleet, Predicate<Transcript> left, CountDownLatch back) throws Exception {
    calls = clients.open(fleet, CALLS, STEPS);
    return clients.start(
        calls,
        call -> {
          boolean leaves = call.number() % 2 == 1;
          call.begin(leaves ? left : _ -> false);
          if (leaves) {
            back.await();
          }
          call.resume();
        });
  }
}
