package dev.holdfast.faults;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Replicas, Redis and the network fail while clients work; docs/faults.md has a row for each of
 * these tests. With {@code -Dholdfast.faults=long} for a minute and with many sessions, otherwise
 * shortly; with {@code -Dholdfast.seed=…} in the same way again.
 */
@Tag("alone")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class FaultsIT {

  @Test
  void killLoopShouldLoseNothing() throws Exception {
    ScenarioRun.of(Scenario.of("replica killed", FaultSchedules.killLoop()).silentFor(8));
  }

  /**
   * Five seconds are promised from the loss to the last word; a short run beside others may take
   * longer.
   */
  @Test
  void killLoopWithoutIdsShouldEndEveryCall() throws Exception {
    ScenarioRun.of(
        Scenario.of("replica killed, server without ids", FaultSchedules.killLoop())
            .withoutIds()
            .orErrors()
            .silentFor(Load.LONG ? 5 : 8));
  }

  @Test
  void freezeLoopShouldLoseNothing() throws Exception {
    ScenarioRun.of(
        Scenario.of("replica frozen", FaultSchedules.freezeLoop())
            .with("holdfast.stream.keep-alive", "1s")
            .under(Load.usual().suspicious()));
  }

  /**
   * The balancer learns of it by readiness, as that of a cluster does. Nobody but the replica that
   * stops can bring these calls to their end. Two seconds are promised; a short run beside others
   * may take longer.
   */
  @Test
  void rollingStopsShouldGoUnnoticed() throws Exception {
    ScenarioRun.of(
        Scenario.of("replica stopped", FaultSchedules.rollingStops())
            .withoutIds()
            .withProbes()
            .under(Load.lasting())
            .silentFor(Load.LONG ? 2 : 4));
  }

  @Test
  void redisRestartShouldLoseNothing() throws Exception {
    ScenarioRun.of(
        Scenario.of("Redis restarted", FaultSchedules.redisRestarts(4000)).withDurableRedis());
  }

  @Test
  void redisFreezeShouldLoseNothing() throws Exception {
    ScenarioRun.of(Scenario.of("Redis frozen", FaultSchedules.redisFreezes()).silentFor(6));
  }

  @Test
  void redisEmptiedShouldBeToldToEveryClient() throws Exception {
    ScenarioRun.of(
        Scenario.of("Redis restarted empty", FaultSchedules.redisRestarts(6000))
            .orErrors()
            .orGone());
  }

  @Test
  void cutsShouldLoseNothing() throws Exception {
    ScenarioRun.of(Scenario.of("client connections cut", FaultSchedules.cuts()).silentFor(4));
  }

  /** Look-again comes only every ten seconds: who is not woken is silent for that long. */
  @Test
  void subscriptionKillsShouldDelayNothing() throws Exception {
    ScenarioRun.of(
        Scenario.of("subscription killed", FaultSchedules.subscriptionKills())
            .under(Load.sparse())
            .silentFor(4));
  }

  @Test
  void chaosShouldLeaveNobodyHanging() throws Exception {
    Load load = Load.longer().suspicious();
    ScenarioRun.of(
        Scenario.of("chaos", FaultSchedules.chaos(load))
            .withDurableRedis()
            .with("holdfast.stream.keep-alive", "1s")
            .with("holdfast.upstream.first-byte-timeout", "2s")
            .with("holdfast.upstream.idle-timeout", "3s")
            .under(load)
            .orErrors()
            .orGone());
  }
}
