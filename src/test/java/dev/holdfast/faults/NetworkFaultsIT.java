package dev.holdfast.faults;

import static dev.holdfast.faults.FleetClients.assertWhole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.MovableClocks;
import dev.holdfast.testing.ToolRequest;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
@Timeout(value = 20, unit = TimeUnit.MINUTES)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class NetworkFaultsIT {

  private static final Pattern UNLOGGED =
      Pattern.compile("(?m)^holdfast_events_unlogged_total(?:\\{.*})? (\\S+)$");

  private static final Duration FROZEN = Duration.ofSeconds(LongRun.REQUESTED ? 60 : 8);
  private static final int CALLS = 16;

  private final FleetClients clients = new FleetClients();

  @BeforeAll
  static void requireHosts() {
    HostScenario.requireHosts();
  }

  @AfterAll
  static void stop() {
    FaultTestbed.closeLast();
  }

  @AfterEach
  void close() {
    clients.close();
  }

  @Test
  @Order(2)
  void partitionsShouldLoseNothingSilently() throws Exception {
    Load load = Load.partitioned();
    ScenarioRun.of(
        HostScenario.of("network partitioned", PartitionSchedules.of(load))
            .under(load)
            .orErrors()
            .orGone());
  }

  /**
   * A host and a process are frozen while appends are under way, because Redis takes a moment for
   * them. When both thaw, all time limits have run out, though Redis has answered long since.
   */
  @Test
  @Order(1)
  void thawedReplicasShouldLogEveryEvent() throws Exception {
    HostScenario.run(testbed -> {
      int steps = (int) FROZEN.plusSeconds(3).dividedBy(Duration.ofMillis(20));
      List<FleetClients.Call> calls = openCalls(testbed, steps);
      List<Transcript> heard = calls.stream().map(call -> clients.listen(call.client())).toList();
      double before = unlogged(testbed);
      List<Future<Transcript>> running = startCalls(calls, testbed.replica(2).url());

      freezeAndThaw(testbed);

      for (Future<Transcript> each : running) {
        Transcript _ = each.get();
      }
      assertThat(unlogged(testbed) - before).as("past the log\n" + testbed.output()).isZero();
      for (Future<Transcript> each : running) {
        assertWhole(each.get(), steps, testbed.output());
      }
      for (Transcript each : heard) {
        HostScenario.assertGoesOn(each);
      }
    });
  }

  /** Calls at replicas 0 and 1. */
  private List<FleetClients.Call> openCalls(FaultTestbed testbed, int steps) throws Exception {
    List<FleetClients.Call> calls = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      String request = ToolRequest.count(i, steps, 20);
      calls.add(clients.open(i, testbed.replica(i / 2 % 2).url(), request));
    }
    return calls;
  }

  /** Starts calls. The clients of every other one follow it from another replica. */
  private List<Future<Transcript>> startCalls(List<FleetClients.Call> calls, URI other) {
    AtomicBoolean leave = new AtomicBoolean();
    List<Future<Transcript>> running =
        clients.start(
            calls,
            call -> {
              boolean leaves = call.number() % 2 == 1;
              call.begin(_ -> leaves && leave.get());
              (leaves ? call.at(other) : call).resume();
            });
    leave.set(true);
    return running;
  }

  /** Replica 0 is cut off as a host is that does not run, and replica 1 keeps its network. */
  private static void freezeAndThaw(FaultTestbed testbed) {
    String _ = testbed.sentinels().primary().command("CLIENT", "PAUSE", "300", "WRITE");
    LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
    testbed.cutBothWays(List.of(NetworkHost.REPLICA_0), NetworkHost.REDIS);
    testbed.replica(0).freeze();
    testbed.replica(1).freeze();
    LockSupport.parkNanos(FROZEN.toNanos());
    testbed.heal();
    testbed.replica(0).thaw();
    testbed.replica(1).thaw();
  }

  /** How many events replicas 0 and 1 have passed by the log. */
  private double unlogged(FaultTestbed testbed) throws Exception {
    return unlogged(testbed.replica(0)) + unlogged(testbed.replica(1));
  }

  private static double unlogged(Gateway replica) {
    String text = replica.get("/q/metrics").body();
    return UNLOGGED
        .matcher(text)
        .results()
        .mapToDouble(each -> Double.parseDouble(each.group(1)))
        .reduce(Double::sum)
        .orElseThrow(() -> new AssertionError(text));
  }

  @Test
  @Order(4)
  @EnabledIfSystemProperty(named = "holdfast.faults", matches = "long")
  void movedClocksShouldLoseNothingSilently() throws Exception {
    assumeTrue(MovableClocks.areAvailable(), "Clocks were not moved: libfaketime is missing.");
    Load load = Load.withClocks();
    ScenarioRun.of(
        HostScenario.of("clocks moved", PartitionSchedules.ofClocks(load))
            .onHostsWithClocks()
            .under(load)
            .orErrors()
            .orGone());
  }

  @Test
  @Order(3)
  void aReplicaBesideAStalePrimaryShouldRefuseForNow() throws Exception {
    HostScenario.run(testbed -> new StalePrimary(testbed, clients).play());
  }
}
