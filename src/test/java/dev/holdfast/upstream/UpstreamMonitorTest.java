package dev.holdfast.upstream;

import static dev.holdfast.relay.RelayFixture.initialize;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.testing.LoggedLines;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UpstreamMonitorTest {

  private static final Duration HOUR = Duration.ofHours(1);

  private final ScriptedUpstream server = new ScriptedUpstream();

  private static Upstream watched(
      UpstreamMonitor monitor, Upstream server, Supplier<Optional<String>> look) {
    return ObservedUpstream.of(server, List.of(monitor.watch("web", look)));
  }

  private void fail(Upstream watched, UpstreamException failure) {
    server.handshake =
        () -> {
          throw failure;
        };
    assertThatExceptionOfType(UpstreamException.class)
        .isThrownBy(() -> watched.initialize(initialize("2025-11-25"), Caller.UNKNOWN));
  }

  private void succeed(Upstream watched) {
    server.handshake = () -> ScriptedUpstream.handshake("2025-11-25");
    var _ = watched.initialize(initialize("2025-11-25"), Caller.UNKNOWN);
  }

  /** A proxy in front of the server answered every second request. */
  @Test
  void shouldBoundTheLinesOfAServerThatIsDownAndUpInTurn() {
    try (UpstreamMonitor monitor = new UpstreamMonitor(HOUR, HOUR);
        LoggedLines log = new LoggedLines(UpstreamMonitor.class)) {
      Upstream watched = watched(monitor, server, Optional::empty);
      for (int i = 0; i < 100; i++) {
        fail(watched, new UpstreamException.Refused(503, null, null));
        assertThat(monitor.isUp("web")).isFalse();
        succeed(watched);
        assertThat(monitor.isUp("web")).isTrue();
      }

      assertThat(log.lines())
          .satisfiesExactly(
              down -> assertThat(down).contains("upstream is down upstream=web"),
              back -> assertThat(back).contains("upstream is back upstream=web"));
    }
  }

  @Test
  void shouldRememberTheLastFailureOfAServerThatIsBack() {
    try (UpstreamMonitor monitor = new UpstreamMonitor(HOUR, HOUR)) {
      Upstream watched = watched(monitor, server, Optional::empty);
      assertThat(monitor.lastFailures()).isEmpty();

      fail(watched, new UpstreamException.Refused(503, null, null));
      succeed(watched);

      assertThat(monitor.problems().get("web")).isEmpty();
      assertThat(monitor.lastFailures().get("web"))
          .satisfies(last -> assertThat(last.reason()).contains("503"));
    }
  }

  /** Sessions of the server before go on there, also when it is gone. */
  @Test
  void shouldNotBlameANewServerForTheOneBefore() {
    try (UpstreamMonitor monitor = new UpstreamMonitor(HOUR, HOUR);
        LoggedLines log = new LoggedLines(UpstreamMonitor.class)) {
      Upstream before = watched(monitor, server, Optional::empty);
      var _ = monitor.watch("web", Optional::empty);

      fail(before, new UpstreamException.Refused(503, null, null));

      assertThat(monitor.isUp("web")).isTrue();
      assertThat(log.lines())
          .singleElement()
          .satisfies(line -> assertThat(line).contains("upstream failed a request upstream=web"));
      monitor.forget("web");
      assertThat(monitor.problems()).isEmpty();
    }
  }

  /** The log must not say for ever that it is back. */
  @Test
  void shouldLogInTheEndThatAServerStaysDown() {
    AtomicReference<Optional<String>> missing = new AtomicReference<>(Optional.empty());
    try (UpstreamMonitor monitor =
            new UpstreamMonitor(Duration.ofMillis(10), Duration.ofMillis(500));
        LoggedLines log = new LoggedLines(UpstreamMonitor.class)) {
      Upstream watched = watched(monitor, server, missing::get);
      fail(watched, new UpstreamException.Refused(503, null, null));
      succeed(watched);
      missing.set(Optional.of("gone"));

      fail(watched, new UpstreamException.Unreachable(null));

      await()
          .untilAsserted(
              () -> assertThat(log.lines()).last().asString().contains("upstream is down"));
      missing.set(Optional.empty());
      await()
          .untilAsserted(
              () -> assertThat(log.lines()).last().asString().contains("upstream is back"));
    }
  }
}
