package dev.holdfast.faults;

import dev.holdfast.faults.server.ServerFault;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The server behind the gateway fails while clients work: every call that it leaves unanswered ends
 * with an error. {@link ServerTimeoutFaultsIT} has the rows whose errors come by a time-out. As
 * {@link FaultsIT} otherwise.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ServerFaultsIT {

  @AfterAll
  static void stop() {
    FaultTestbed.closeLast();
  }

  @Test
  void refusedShouldEndInErrors() throws Exception {
    ScenarioRun.of(scenario("server refuses", ServerFault.REFUSED, 2000).orErrors());
  }

  @Test
  void tornShouldLoseNothing() throws Exception {
    ScenarioRun.of(scenario("server tears frames", ServerFault.TORN, 100));
  }

  @Test
  void forgottenShouldBeToldToEveryClient() throws Exception {
    ScenarioRun.of(
        scenario("server forgets sessions", ServerFault.FORGOTTEN, 100).orErrors().orGone());
  }

  @Test
  void garbageShouldEndInErrors() throws Exception {
    ScenarioRun.of(scenario("server sends garbage", ServerFault.GARBAGE, 500).orErrors());
  }

  /** Its messages are dropped, and its calls go on. */
  @Test
  void oversizedShouldLoseNothing() throws Exception {
    ScenarioRun.of(
        scenario("server sends a message above the limit", ServerFault.OVERSIZED, 1500)
            .with("holdfast.limits.server-message-bytes", "64K"));
  }

  /** A row whose calls end within the time-outs of the replicas. */
  static Scenario scenario(String name, ServerFault trouble, int millis) {
    return Scenario.of(name, FaultSchedules.serverIs(trouble, millis))
        .with("holdfast.upstream.connect-timeout", "1s")
        .with("holdfast.upstream.first-byte-timeout", "2s")
        .with("holdfast.upstream.idle-timeout", "2s")
        .silentFor(8);
  }
}
