package dev.holdfast.faults;

import dev.holdfast.faults.server.ServerFault;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The server behind the gateway fails while clients work: every call that it leaves unanswered ends
 * with an error within its time-outs. As {@link FaultsIT} otherwise.
 */
@Tag("alone")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ServerFaultsIT {

  @Test
  void refusedShouldEndInErrors() throws Exception {
    ScenarioRun.of(scenario("server refuses", ServerFault.REFUSED, 2000).orErrors());
  }

  /** It stalls for longer than a client may hear nothing. */
  @Test
  void stalledShouldEndInErrors() throws Exception {
    ScenarioRun.of(scenario("server stalls", ServerFault.STALLED, 5500).orErrors().silentFor(4));
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

  /** Likewise: an event without end brings no message. */
  @Test
  void endlessShouldEndInErrors() throws Exception {
    ScenarioRun.of(
        scenario("server sends without end", ServerFault.ENDLESS, 5500).orErrors().silentFor(4));
  }

  private static Scenario scenario(String name, ServerFault trouble, int millis) {
    return Scenario.of(name, FaultSchedules.serverIs(trouble, millis))
        .with("holdfast.upstream.connect-timeout", "1s")
        .with("holdfast.upstream.first-byte-timeout", "2s")
        .with("holdfast.upstream.idle-timeout", "2s")
        .silentFor(8);
  }
}
