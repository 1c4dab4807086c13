package dev.holdfast.faults;

import static dev.holdfast.faults.HostScenario.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.SentinelFixture;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * Replica 0 stays with a primary that the sentinels vote out. It knows nothing of what happens
 * behind the new one, so it may not say that anything is gone.
 */
final class StalePrimary {

  private static final int STEPS = 160;
  private static final int SESSIONS = 4;
  private static final int ROUNDS = 30;
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final int NOT_NOW = 503;

  private final FaultTestbed testbed;
  private final FleetClients clients;
  private final URI beside;
  private final URI other;

  /** Opened before the partition, or behind the new primary, at another replica. */
  private final List<McpClient> sessions = new ArrayList<>();

  /** The first event of a call in each of the newer sessions. */
  private final List<String> begun = new ArrayList<>();

  StalePrimary(FaultTestbed testbed, FleetClients clients) {
    this.testbed = testbed;
    this.clients = clients;
    this.beside = testbed.replica(0).url();
    this.other = testbed.replica(1).url();
  }

  void play() throws Exception {
    for (int i = 0; i < SESSIONS; i++) {
      sessions.add(McpClient.at(other).ready());
    }
    List<Future<Transcript>> running = startCalls();

    awaitVote(testbed.isolatePrimary(0));
    for (int i = 0; i < SESSIONS; i++) {
      McpClient session = McpClient.at(other).ready();
      try (FrameStream call = session.stream(ToolRequest.count(1, STEPS, 50))) {
        begun.add(call.event().id());
      }
      sessions.add(session);
    }
    Map<Integer, Integer> statuses = askBeside();
    System.out.println("answers beside a stale primary: " + statuses);
    assertThat(saysGone(statuses)).as(statuses + testbed.output()).isFalse();

    testbed.heal();
    testbed.awaitAll();
    assertAllKnownBeside();
    for (Future<Transcript> each : running) {
      CallRecord call = CallRecord.ofCall(each.get(), STEPS, System.nanoTime());
      assertThat(call.lost() + call.duplicated()).as(call + testbed.output()).isZero();
    }
  }

  /** Starts calls at the replica that will be left alone. Their clients stay there. */
  private List<Future<Transcript>> startCalls() throws Exception {
    List<FleetClients.Call> calls = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      calls.add(clients.open(i, beside, ToolRequest.count(1, STEPS, 50)));
    }
    return clients.start(
        calls,
        call -> {
          call.begin(_ -> false);
          call.resume();
        });
  }

  private void awaitVote(RedisFixture stale) {
    SentinelFixture redis = testbed.sentinels();
    int far = (redis.number(stale) + 1) % redis.sentinels().size();
    await().atMost(MINUTES).until(() -> redis.primaryOf(redis.sentinels().get(far)) != stale);
    await().atMost(MINUTES).until(() -> testbed.replica(1).isReady());
  }

  /**
   * Asks the lonely replica for each session and call, until it has refused the newer ones for a
   * while. It may serve older ones, as long as they need no write. What it says of newer ones
   * counts once it refuses them: a primary takes writes for {@code min-replicas-max-lag}.
   */
  private Map<Integer, Integer> askBeside() {
    Map<Integer, Integer> statuses = new TreeMap<>();
    int refused = 0;
    for (int round = 0; refused < ROUNDS && !saysGone(statuses); round++) {
      for (McpClient session : sessions.subList(0, SESSIONS)) {
        statuses.merge(ask(session, round), 1, Integer::sum);
      }
      List<Integer> newer = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        McpClient session = sessions.get(SESSIONS + i);
        newer.add(ask(session, round));
        try (FrameStream rest = session.elsewhere(beside).resume(begun.get(i))) {
          newer.add(rest.status());
        }
      }
      refused += newer.stream().allMatch(status -> status == NOT_NOW) ? 1 : 0;
      if (refused > 0) {
        newer.forEach(status -> statuses.merge(status, 1, Integer::sum));
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
    return statuses;
  }

  private static boolean saysGone(Map<Integer, Integer> statuses) {
    return statuses.containsKey(404) || statuses.containsKey(410);
  }

  private void assertAllKnownBeside() {
    for (McpClient session : sessions) {
      // The new primary may refuse writes once more, until its replicas keep up.
      await().atMost(MINUTES).until(() -> ask(session, 100_000) != NOT_NOW);
      assertThat(ask(session, 100_001)).as(testbed.output()).isEqualTo(200);
    }
    for (int i = 0; i < SESSIONS; i++) {
      McpClient session = sessions.get(SESSIONS + i).elsewhere(beside);
      try (FrameStream rest = session.resume(begun.get(i))) {
        List<Frame.Event> events = rest.events();
        assertThat(events).as(testbed.output()).hasSize(STEPS);
        assertThat(events.getLast().data()).contains("\"result\"");
      }
    }
  }

  private int ask(McpClient session, int id) {
    String list = "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"tools/list\"}";
    return session.elsewhere(beside).post(list).statusCode();
  }
}
