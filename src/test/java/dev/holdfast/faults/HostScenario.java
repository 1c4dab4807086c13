package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.NetworkNamespaces;
import java.time.Duration;
import java.util.List;

/** What tests on {@link NetworkHost hosts} share. */
final class HostScenario {

  /** TCP's keep-alive takes one minute, and a slow machine takes its time. */
  static final Duration MINUTES = Duration.ofMinutes(4);

  private HostScenario() {}

  /** Skips the tests of a class where the hosts cannot be made. */
  static void requireHosts() {
    String missing = NetworkNamespaces.missing();
    assumeTrue(missing == null, missing);
  }

  /** A scenario on the hosts of all others. */
  static Scenario of(String name, Schedule schedule) {
    return Scenario.of(name, schedule).onHosts().with("holdfast.stream.keep-alive", "1s");
  }

  /** Runs a test on these hosts. If it fails, the next one gets others. */
  static void run(Schedule.Act test) throws Exception {
    try {
      FaultTestbed testbed = FaultTestbed.of(of("", new Schedule(0)));
      testbed.awaitAll();
      test.on(testbed);
    } catch (Exception | AssertionError failed) {
      FaultTestbed.closeLast();
      throw failed;
    }
  }

  /** Asserts that a standalone stream brings more messages, and has brought all in between. */
  static void assertGoesOn(Transcript heard) {
    int before = heard.progress().size();
    await()
        .atMost(MINUTES)
        .untilAsserted(
            () -> assertThat(heard.progress()).as("%s", heard).hasSizeGreaterThan(before + 4));
    List<Integer> all = heard.progress();
    assertThat(all)
        .as("%s", heard)
        .isEqualTo(FleetClients.upTo(all.getLast()).subList(all.getFirst() - 1, all.getLast()));
  }
}
