package dev.holdfast.faults;

import dev.holdfast.faults.server.ServerFault;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The server behind the gateway falls silent: calls end with an error soon after a time-out. As
 * {@link FaultsIT} otherwise.
 */
@Tag("alone")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ServerTimeoutFaultsIT {

  @AfterAll
  static void stop() {
    FaultTestbed.closeLast();
  }

  /** It stalls for longer than a client may hear nothing. */
  @Test
  void stalledShouldEndInErrors() throws Exception {
    ScenarioRun.of(
        ServerFaultsIT.scenario("server stalls", ServerFault.STALLED, 5500)
            .orErrors()
            .silentFor(10));
  }

  /** An event without end brings no message. It is skipped up to many times the limit. */
  @Test
  void endlessShouldEndInErrors() throws Exception {
    ScenarioRun.of(
        ServerFaultsIT.scenario("server sends without end", ServerFault.ENDLESS, 5500)
            .orErrors()
            .silentFor(10));
  }
}
