package dev.holdfast.faults;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * Rows of docs/faults.md that promise no times, so that other tests may run beside them; as {@link
 * FaultsIT} otherwise.
 *
 * <p>Neighbours in this order run on the same replicas, if their settings allow it.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LossFaultsIT {

  @AfterAll
  static void stop() {
    FaultTestbed.closeLast();
  }

  @Test
  @Order(1)
  void freezeLoopShouldLoseNothing() throws Exception {
    ScenarioRun.of(
        Scenario.of("replica frozen", FaultSchedules.freezeLoop())
            .with("holdfast.stream.keep-alive", "1s")
            .under(Load.usual().suspicious()));
  }

  @Test
  @Order(3)
  void redisRestartShouldLoseNothing() throws Exception {
    ScenarioRun.of(
        Scenario.of("Redis restarted", FaultSchedules.redisRestarts(4000)).withDurableRedis());
  }

  @Test
  @Order(2)
  void redisEmptiedShouldBeToldToEveryClient() throws Exception {
    ScenarioRun.of(
        Scenario.of("Redis restarted empty", FaultSchedules.redisRestarts(6000))
            .with("holdfast.stream.keep-alive", "1s")
            .orErrors()
            .orGone());
  }

  @Test
  @Order(4)
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
