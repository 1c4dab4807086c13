package dev.holdfast.faults;

import dev.holdfast.testing.LongRun;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * Replicas, Redis and the network fail while clients work, and no client waits for longer than is
 * promised. docs/faults.md has a row for each of these tests. {@code -Dholdfast.faults=long} plays
 * each for a minute and with many sessions; {@code -Dholdfast.seed=…} repeats the faults of a run.
 *
 * <p>Neighbours in this order run on the same replicas.
 */
@Tag("alone")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FaultsIT {

  @AfterAll
  static void stop() {
    FaultTestbed.closeLast();
  }

  @Test
  @Order(4)
  void killLoopShouldLoseNothing() throws Exception {
    ScenarioRun.of(Scenario.of("replica killed", FaultSchedules.killLoop()).silentFor(8));
  }

  @Test
  @Order(7)
  void killLoopShouldLoseNothingOfClientsWithoutSessions() throws Exception {
    ScenarioRun.of(
        Scenario.of("replica killed, clients without sessions", FaultSchedules.killLoop())
            .withoutSessions()
            .silentFor(8));
  }

  /** A call that is cut before its client has an id is lost, so calls begin in open sessions. */
  @Test
  @Order(8)
  void cutsShouldLoseNothingOfClientsWithoutSessions() throws Exception {
    ScenarioRun.of(
        Scenario.of("connections cut, clients without sessions", FaultSchedules.cuts())
            .withoutSessions()
            .with("holdfast.eras.share-anonymous-sessions", "true")
            .silentFor(LongRun.REQUESTED ? 4 : 8));
  }

  /**
   * Five seconds are promised from the loss to the last word; a short run on a busy machine may
   * take longer.
   */
  @Test
  @Order(5)
  void killLoopWithoutIdsShouldEndEveryCall() throws Exception {
    ScenarioRun.of(
        Scenario.of("replica killed, server without ids", FaultSchedules.killLoop())
            .withoutIds()
            .orErrors()
            .silentFor(LongRun.REQUESTED ? 5 : 8));
  }

  /**
   * The balancer learns of it by readiness, as that of a cluster does. Nobody but the replica that
   * stops can bring these calls to their end. Two seconds are promised; a short run on a busy
   * machine may take longer.
   */
  @Test
  @Order(6)
  void rollingStopsShouldGoUnnoticed() throws Exception {
    ScenarioRun.of(
        Scenario.of("replica stopped", FaultSchedules.rollingStops())
            .withoutIds()
            .withProbes()
            .under(Load.lasting())
            .silentFor(LongRun.REQUESTED ? 2 : 4));
  }

  @Test
  @Order(3)
  void redisFreezeShouldLoseNothing() throws Exception {
    ScenarioRun.of(Scenario.of("Redis frozen", FaultSchedules.redisFreezes()).silentFor(6));
  }

  @Test
  @Order(1)
  void cutsShouldLoseNothing() throws Exception {
    ScenarioRun.of(
        Scenario.of("client connections cut", FaultSchedules.cuts())
            .silentFor(LongRun.REQUESTED ? 4 : 8));
  }

  /**
   * Tails look again only every ten seconds: a stream that is not woken is silent for that long.
   */
  @Test
  @Order(2)
  void subscriptionKillsShouldDelayNothing() throws Exception {
    ScenarioRun.of(
        Scenario.of("subscription killed", FaultSchedules.subscriptionKills())
            .under(Load.sparse())
            .silentFor(LongRun.REQUESTED ? 4 : 8));
  }
}
