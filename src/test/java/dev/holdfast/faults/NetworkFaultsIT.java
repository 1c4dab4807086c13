package dev.holdfast.faults;

import static dev.holdfast.faults.FleetClients.assertWhole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.faults.server.ServerFault;
import dev.holdfast.resume.FollowingClient;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NetworkNamespaces;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.SentinelFixture;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Three replicas, a Redis with sentinels, the server and the clients on hosts of their own, between
 * which packets vanish. docs/faults.md tells what this needs, and has the results.
 */
@Tag("alone")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class NetworkFaultsIT {

  private static final Pattern UNLOGGED =
      Pattern.compile("(?m)^holdfast_events_unlogged_total(?:\\{.*})? (\\S+)$");

  /** A keep-alive that has to run out takes a minute. */
  private static final Duration MINUTES = Duration.ofMinutes(4);

  private static final int STALE_STEPS = 160;

  private static final Duration FROZEN = Duration.ofSeconds(Load.LONG ? 60 : 8);

  private final FleetClients clients = new FleetClients();

  @BeforeAll
  static void requireNamespaces() {
    String missing = NetworkNamespaces.missing();
    assumeTrue(missing == null, missing);
  }

  @AfterAll
  static void stop() {
    FaultTestbed.closeLast();
  }

  @AfterEach
  void close() {
    clients.close();
  }

  /** All tests share the hosts. */
  private static Scenario scenario(String name, Schedule schedule) {
    return Scenario.of(name, schedule).onHosts().with("holdfast.stream.keep-alive", "1s");
  }

  private static FaultTestbed testbed() {
    FaultTestbed testbed = FaultTestbed.of(scenario("", new Schedule(0)));
    testbed.awaitAll();
    return testbed;
  }

  @Test
  @Order(2)
  void partitionsShouldLoseNothingSilently() throws Exception {
    Load load = Load.partitioned();
    ScenarioRun.of(
        scenario("network partitioned", PartitionSchedules.of(load))
            .under(load)
            .orErrors()
            .orGone());
  }

  /**
   * A process and a whole host are frozen while appends are under way, because Redis takes a moment
   * for them. When both thaw, all time limits have run out, though Redis has answered long since.
   */
  @Test
  @Order(1)
  void thawedReplicasShouldLogEveryEvent() throws Exception {
    FaultTestbed testbed = testbed();
    int steps = (int) FROZEN.plusSeconds(3).dividedBy(Duration.ofMillis(20));
    List<FleetClients.Call> calls = new ArrayList<>();
    List<Transcript> listened = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      FollowingClient client = clients.open(testbed.replica(i / 2 % 2).url(), MINUTES);
      String request = ToolRequest.count(i, steps, 20);
      calls.add(new FleetClients.Call(i, client, request, new Random(i), new Transcript()));
      Transcript heard = new Transcript();
      listened.add(heard);
      var _ = clients.listen(client, heard, Integer.MAX_VALUE);
    }
    double before = unlogged(testbed);
    AtomicBoolean leave = new AtomicBoolean();
    List<Future<Transcript>> running =
        clients.start(
            calls,
            call -> {
              boolean leaves = call.number() % 2 == 1;
              call.begin(_ -> leaves && leave.get());
              (leaves ? call.at(testbed.replica(2).url()) : call).resume();
            });
    leave.set(true);

    String _ = testbed.sentinels().primary().command("CLIENT", "PAUSE", "300", "WRITE");
    LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
    testbed.cutBothWays(List.of(NetworkHost.REPLICA_0), NetworkHost.REDIS);
    testbed.replica(0).freeze();
    testbed.replica(1).freeze();
    LockSupport.parkNanos(FROZEN.toNanos());
    testbed.heal();
    testbed.replica(0).thaw();
    testbed.replica(1).thaw();

    for (Future<Transcript> each : running) {
      Transcript _ = each.get();
    }
    assertThat(unlogged(testbed) - before).as(testbed.output()).isZero();
    for (Future<Transcript> each : running) {
      assertWhole(each.get(), steps, testbed.output());
    }
    List<Integer> heard = listened.stream().map(each -> each.progress().size()).toList();
    await().atMost(MINUTES).until(() -> hasGrown(listened, heard));
    assertThat(listened)
        .allSatisfy(each -> assertThat(each.progress()).as("%s", each).isEqualTo(upToLast(each)));
  }

  private static boolean hasGrown(List<Transcript> transcripts, List<Integer> sizes) {
    for (int i = 0; i < sizes.size(); i++) {
      if (transcripts.get(i).progress().size() <= sizes.get(i)) {
        return false;
      }
    }
    return true;
  }

  /** All numbers from the first to the last that came. */
  private static List<Integer> upToLast(Transcript transcript) {
    List<Integer> all = transcript.progress();
    return FleetClients.upTo(all.getLast()).subList(all.getFirst() - 1, all.getLast());
  }

  /** How many events replicas 0 and 1 have passed by the log. */
  private double unlogged(FaultTestbed testbed) throws Exception {
    return unlogged(testbed, 0) + unlogged(testbed, 1);
  }

  private double unlogged(FaultTestbed testbed, int replica) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(testbed.replica(replica).url("/q/metrics")).build();
    String metrics = clients.http().send(request, BodyHandlers.ofString()).body();
    return UNLOGGED
        .matcher(metrics)
        .results()
        .mapToDouble(each -> Double.parseDouble(each.group(1)))
        .reduce(Double::sum)
        .orElseThrow(() -> new AssertionError(metrics));
  }

  /**
   * The replica beside the stale primary knows nothing of what has happened since the vote. So it
   * may not say that anything is gone.
   */
  @Test
  @Order(3)
  void aReplicaBesideAStalePrimaryShouldRefuseForNow() throws Exception {
    FaultTestbed testbed = testbed();
    SentinelFixture redis = testbed.sentinels();
    URI beside = testbed.replica(0).url();
    URI other = testbed.replica(1).url();
    List<FleetClients.Call> calls = new ArrayList<>();
    List<McpClient> sessions = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      FollowingClient client = clients.open(beside, MINUTES);
      calls.add(
          new FleetClients.Call(
              i, client, ToolRequest.count(1, STALE_STEPS, 50), new Random(i), new Transcript()));
      sessions.add(McpClient.at(other).ready());
    }
    List<Future<Transcript>> running =
        clients.start(
            calls,
            call -> {
              call.begin(_ -> false);
              call.resume();
            });

    RedisFixture stale = testbed.isolatePrimary(0);
    RedisFixture far = redis.sentinels().get((redis.number(stale) + 1) % 3);
    await().atMost(MINUTES).until(() -> redis.primaryOf(far) != stale);
    await().atMost(MINUTES).until(() -> testbed.replica(1).isReady());
    List<String> begun = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      McpClient client = McpClient.at(other).ready();
      sessions.add(client);
      try (FrameStream stream = client.stream(ToolRequest.count(1, STALE_STEPS, 50))) {
        begun.add(stream.event().id());
      }
    }
    Map<Integer, Integer> statuses = new TreeMap<>();
    for (int round = 0; round < 30 || !statuses.containsKey(503); round++) {
      for (int i = 0; i < sessions.size(); i++) {
        McpClient client = sessions.get(i).elsewhere(beside);
        statuses.merge(client.post(list(round)).statusCode(), 1, Integer::sum);
        if (i >= 4) {
          try (FrameStream stream = client.resume(begun.get(i - 4))) {
            statuses.merge(stream.status(), 1, Integer::sum);
          }
        }
      }
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
    }
    System.out.println("answers beside the stale primary: " + statuses);
    assertThat(statuses).as(testbed.output()).doesNotContainKeys(404, 410);
    testbed.heal();
    testbed.awaitAll();

    for (McpClient client : sessions) {
      assertThat(client.elsewhere(beside).post(list(1000)).statusCode())
          .as(testbed.output())
          .isEqualTo(200);
    }
    for (int i = 0; i < begun.size(); i++) {
      try (FrameStream rest = sessions.get(4 + i).elsewhere(beside).resume(begun.get(i))) {
        List<Frame.Event> events = rest.events();
        assertThat(events).as(testbed.output()).hasSize(STALE_STEPS);
        assertThat(events.getLast().data()).contains("\"result\"");
      }
    }
    for (Future<Transcript> each : running) {
      CallRecord call = CallRecord.ofCall(each.get(), STALE_STEPS, System.nanoTime());
      assertThat(call.lost() + call.duplicated()).as(call + testbed.output()).isZero();
    }
  }

  private static String list(int id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"tools/list\"}";
  }

  /** Packets vanish for longer than TCP's keep-alive lasts. */
  @Test
  @Order(4)
  @EnabledIfSystemProperty(named = "holdfast.faults", matches = "long")
  void aSilentServerShouldBeFoundDeadAndStreamsResumed() throws Exception {
    FaultTestbed testbed = testbed();
    URI url = testbed.replica(0).url();
    FollowingClient client = clients.open(url, MINUTES);
    Transcript heard = new Transcript();
    var _ = clients.listen(client, heard, Integer.MAX_VALUE);
    int steps = 600;
    FleetClients.Call call =
        new FleetClients.Call(
            1, client, ToolRequest.count(1, steps, 200), new Random(1), new Transcript());
    Future<Transcript> running =
        clients
            .start(
                List.of(call),
                each -> {
                  each.begin(_ -> false);
                  each.resume();
                })
            .getFirst();
    await().until(() -> heard.progress().size() > 2);
    try (NodeFixture sse = testbed.startSseServer()) {
      McpClient pinned = McpClient.at(testbed.replica(0).url("/servers/sse/mcp")).ready();
      FrameStream lost = pinned.stream(ToolRequest.count(1, 5000, 100));
      Frame.Event _ = lost.event();
      int port = testbed.server().url().getPort();
      assertThat(testbed.connectionsToServer(0, port)).isPositive();
      assertThat(testbed.connectionsToServer(0, sse.port())).isPositive();

      cutFromServer(testbed);
      long cut = System.nanoTime();
      await()
          .atMost(MINUTES)
          .pollInterval(Duration.ofMillis(200))
          .until(() ->
              testbed.connectionsToServer(0, port) + testbed.connectionsToServer(0, sse.port())
                  == 0);
      System.out.printf("found dead after %.1f s%n", (System.nanoTime() - cut) / 1e9);
      List<Frame.Event> end = lost.events();
      assertThat(end.getLast().data()).contains("\"id\":1", "\"error\"", "outcome");
      assertThat(pinned.post(list(2)).statusCode()).isEqualTo(404);
      testbed.heal();
      assertResumed(testbed, heard, running, steps);
    }
  }

  /** The server has closed its end, and nobody has heard of it. */
  @Test
  @Order(5)
  @EnabledIfSystemProperty(named = "holdfast.faults", matches = "long")
  void aResetThatVanishedShouldBeNoticedAndStreamsResumed() throws Exception {
    FaultTestbed testbed = testbed();
    FollowingClient client = clients.open(testbed.replica(0).url(), MINUTES);
    Transcript heard = new Transcript();
    var _ = clients.listen(client, heard, Integer.MAX_VALUE);
    int steps = 300;
    FleetClients.Call call =
        new FleetClients.Call(
            1, client, ToolRequest.count(1, steps, 200), new Random(1), new Transcript());
    Future<Transcript> running =
        clients
            .start(
                List.of(call),
                each -> {
                  each.begin(_ -> false);
                  each.resume();
                })
            .getFirst();
    await().until(() -> heard.progress().size() > 2);

    int open = testbed.connectionsAtServer(0);
    cutFromServer(testbed);
    testbed.server().be(ServerFault.TORN);
    // Idle ones stay, since nobody hears of their end either.
    await().atMost(MINUTES).until(() -> testbed.connectionsAtServer(0) <= open - 2);
    testbed.server().be(ServerFault.NONE);
    testbed.heal();
    assertResumed(testbed, heard, running, steps);
  }

  private static void cutFromServer(FaultTestbed testbed) {
    testbed.cutBothWays(List.of(NetworkHost.REPLICA_0), List.of(NetworkHost.SERVER));
  }

  private static void assertResumed(
      FaultTestbed testbed, Transcript heard, Future<Transcript> running, int steps)
      throws Exception {
    int before = heard.progress().size();
    await()
        .atMost(MINUTES)
        .untilAsserted(
            () -> assertThat(heard.progress().size()).as("%s", heard).isGreaterThan(before + 10));
    assertThat(heard.progress()).as("%s", heard).isEqualTo(upToLast(heard));
    assertWhole(running.get(), steps, testbed.output());
  }
}
