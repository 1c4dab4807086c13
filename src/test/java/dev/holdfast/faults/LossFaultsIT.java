package dev.holdfast.faults;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Rows of docs/faults.md that promise no times, so that other tests may run beside them; as {@link
 * FaultsIT} otherwise.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class LossFaultsIT {

  @AfterAll
  static void stop() {
    FaultTestbed.closeLast();
  }

  @Test
  void freezeLoopShouldLoseNothing() throws Exception {
    ScenarioRun.of(
        Scenario.of("replica frozen", FaultSchedules.freezeLoop())
            .with("holdfast.stream.keep-alive", "1s")
            .under(Load.usual().suspicious()));
  }

  @Test
  void redisRestartShouldLoseNothing() throws Exception {
    ScenarioRun.of(
        Scenario.of("Redis restarted", FaultSchedules.redisRestarts(4000)).withDurableRedis());
  }

  @Test
  void redisEmptiedShouldBeToldToEveryClient() throws Exception {
    ScenarioRun.of(
        Scenario.of("Redis restarted empty", FaultSchedules.redisRestarts(6000))
            .orErrors()
            .orGone());
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
