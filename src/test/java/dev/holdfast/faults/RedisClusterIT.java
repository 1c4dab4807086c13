package dev.holdfast.faults;

import static dev.holdfast.faults.FleetClients.assertWhole;
import static dev.holdfast.faults.FleetClients.count;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.ClusterFixture;
import dev.holdfast.testing.RedisFixture;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls through two replicas on a Redis Cluster of three servers, which have no replicas. */
@Timeout(180)
@Tag("alone")
class RedisClusterIT {

  private static final int OF_EACH = 2;
  private static final int STEPS = 25;
  private static final int NEW_SESSIONS = 6;
  private static final int MOST_REFUSALS = 3;
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";

  @AutoClose private final ClusterFixture cluster = ClusterFixture.startWithoutReplicas();

  @AutoClose
  private final Fleet fleet =
      new Fleet(
          2,
          Map.of(
              "quarkus.redis.client-type", "cluster",
              "quarkus.redis.hosts", cluster.hosts(),
              "holdfast.cleanup-interval", "1s"));

  @AutoClose private final FleetClients clients = new FleetClients();

  private static String key(FollowingClient client) {
    return "holdfast:{" + client.session() + "}";
  }

  /** Each server has some of the keys that all sessions share. */
  @Test
  void shouldLoseOnlyTheSessionsOfALostServer() throws Exception {
    for (RedisFixture lost : cluster.servers()) {
      lose(lost);
    }
    assertThat(fleet.output()).doesNotContain("sessions of a lost replica adopted");
  }

  private void lose(RedisFixture lost) throws Exception {
    List<FleetClients.Call> calls = openOnAll();
    List<Boolean> hit =
        calls.stream().map(call -> cluster.primaryOf(key(call.client())) == lost).toList();
    List<Future<Transcript>> running = start(calls);
    List<FollowingClient> added = new ArrayList<>();

    lost.kill();

    assertReady();
    for (int i = 0; i < NEW_SESSIONS; i++) {
      FollowingClient opened = openAfterLoss(fleet.url(i % 2));
      added.add(opened);
      assertThat(cluster.primaryOf(key(opened), lost)).isNotEqualTo(lost);
      assertWhole(opened.call(count(100 + i, 2), clients.random()), 2, fleet);
    }
    for (int i = 0; i < calls.size(); i++) {
      FollowingClient client = calls.get(i).client();
      if (hit.get(i)) {
        assertThat(client.send(PING, clients.random())).as(fleet.output()).isEqualTo(503);
      } else {
        assertThat(client.send(PING, clients.random())).as(fleet.output()).isEqualTo(200);
        assertWhole(running.get(i).get(), STEPS, fleet);
      }
    }
    assertReady();

    lost.restart();
    cluster.awaitWhole();
    for (int i = 0; i < calls.size(); i++) {
      Transcript transcript = running.get(i).get();
      String details = transcript + "\n" + fleet.output();
      assertThat(transcript.ids()).as(details).doesNotHaveDuplicates();
      assertThat(transcript.progress()).as(details).isSorted().doesNotHaveDuplicates();
      assertThat(transcript.isHung()).as(details).isFalse();
      FollowingClient client = calls.get(i).client();
      if (hit.get(i)) {
        await()
            .atMost(Duration.ofSeconds(20))
            .until(() -> client.send(PING, clients.random()) == 200);
        assertWhole(client.call(count(200 + i, 2), clients.random()), 2, fleet);
      }
    }
    assertReady();
    // Those that were opened while the index was away.
    String sessions = "holdfast:sessions";
    RedisFixture index = cluster.primaryOf(sessions);
    for (FollowingClient client : added) {
      await()
          .until(() -> index.reply("ZSCORE", sessions, client.session()).getFirst().length() > 1);
    }
  }

  /**
   * A replica notices the loss with its first commands to the server, which may be of this session.
   */
  private FollowingClient openAfterLoss(URI url) throws Exception {
    for (int left = MOST_REFUSALS; ; left--) {
      try {
        return clients.open(List.of(url));
      } catch (IOException refused) {
        if (left == 0 || !String.valueOf(refused.getMessage()).startsWith("503 ")) {
          throw refused;
        }
      }
    }
  }

  /** Opens the sessions of two calls in the slots of each server. */
  private List<FleetClients.Call> openOnAll() throws Exception {
    Map<RedisFixture, Integer> opened = new HashMap<>();
    List<FleetClients.Call> calls = new ArrayList<>();
    while (calls.size() < OF_EACH * cluster.servers().size()) {
      FollowingClient client = clients.open(fleet.urls());
      int i = calls.size();
      if (opened.merge(cluster.primaryOf(key(client)), 1, Integer::sum) <= OF_EACH) {
        calls.add(
            new FleetClients.Call(i, client, count(i, STEPS), new Random(i), new Transcript()));
      }
    }
    return calls;
  }

  private List<Future<Transcript>> start(List<FleetClients.Call> calls) {
    return clients.start(
        calls,
        call -> {
          call.begin(_ -> false);
          call.resume();
        });
  }

  /** Keys move one by one, so that scripts find some of their keys on either server. */
  @Test
  void shouldNeitherLoseNorRepeatEventsWhileSlotsMove() throws Exception {
    List<FleetClients.Call> calls = openOnAll();
    List<Future<Transcript>> running = start(calls);

    int moves = 0;
    while (!running.stream().allMatch(Future::isDone)) {
      for (FleetClients.Call call : calls) {
        cluster.move(key(call.client()));
        moves++;
      }
    }

    assertThat(moves).isGreaterThan(2 * calls.size());
    for (int i = 0; i < calls.size(); i++) {
      assertWhole(running.get(i).get(), STEPS, fleet);
      assertWhole(calls.get(i).client().call(count(100 + i, 2), clients.random()), 2, fleet);
    }
    assertReady();
  }

  private void assertReady() {
    assertThat(fleet.isReady(0) && fleet.isReady(1)).as(fleet.output()).isTrue();
  }
}
