package dev.holdfast.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.faults.server.CountingServer;
import dev.holdfast.resume.Transcript;
import dev.holdfast.testing.LongRun;
import dev.holdfast.testing.RedisFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The rendered chart, run on this machine: replicas are replaced, and their number changes, while
 * clients call. The server's events have no ids, so only the replica that stops can bring its calls
 * to their end. {@code -Dholdfast.faults=long} keeps the times of the chart.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class RehearsalIT {

  private static final Duration PATIENCE = Duration.ofMinutes(LongRun.REQUESTED ? 5 : 3);
  private static final int CLIENTS = LongRun.REQUESTED ? 40 : 8;
  private static final int STEPS = LongRun.REQUESTED ? 200 : 20;

  /** Shorter than the hook before SIGTERM, as an operator has to make sure. */
  private static final Duration LAG = Duration.ofMillis(LongRun.REQUESTED ? 4000 : 1500);

  private static final List<Integer> ALL = IntStream.rangeClosed(1, STEPS).boxed().toList();

  /** The times of the ordinary run. All others follow from them in the chart. */
  private static final String SHORT =
      """
      preStopSeconds: 6
      minReadySeconds: 0
      readinessProbe: {periodSeconds: 1, timeoutSeconds: 10}
      config: {stream.drain-timeout: 5s}
      """;

  @AutoClose private final RedisFixture redis = RedisFixture.start();
  @AutoClose private final CountingServer server = CountingServer.start(false);

  @TempDir private Path scratch;

  @Test
  void rollOutAndScalingShouldGoUnnoticed() throws Exception {
    rehearse(Chart.RELEASED.render(values()), PATIENCE);
  }

  /** The rehearsal must not pass by itself. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "deployment; {{ include \"holdfast.gracePeriod\" . }}; 0; killed after the grace period",
        "deployment; {{ .Values.preStopSeconds }}; 0; connected: 503|IOException",
        "deployment; path: /q/health/ready; path: /q/health/nowhere; was not fulfilled",
        "service; targetPort: http; targetPort: management; a client has failed"
      })
  @Tag("long")
  void brokenChartShouldBeNoticed(String template, String from, String to, String noticed)
      throws Exception {
    Chart broken = Chart.RELEASED.edited(scratch, "templates/" + template + ".yaml", from, to);
    RenderedChart chart = broken.render(values());

    assertThatThrownBy(() -> rehearse(chart, Duration.ofSeconds(30)))
        .satisfies(
            failure -> assertThat(Throwables.getStackTrace(failure)).containsPattern(noticed));
  }

  private void rehearse(RenderedChart chart, Duration patience) throws Exception {
    try (LocalDeployment deployment = new LocalDeployment(chart, scratch, LAG)) {
      deployment.awaitComplete(patience);
      try (Callers callers = new Callers(deployment.url(), CLIENTS, STEPS)) {
        deployment.rollOut(chart);
        deployment.awaitComplete(patience);
        deployment.scale(1);
        deployment.awaitComplete(patience);
        deployment.scale(3);
        deployment.awaitComplete(patience);

        assertThat(callers.stop()).allSatisfy(call -> isUnharmed(call, deployment));
      }
      assertThat(deployment.problems()).isEmpty();
    }
  }

  private static void isUnharmed(Transcript call, LocalDeployment deployment) {
    String details = call + "\n" + deployment.describe();
    assertThat(call.progress()).as(details).isEqualTo(ALL);
    assertThat(call.results()).as(details).isEqualTo(1);
    assertThat(call.errors()).as(details).isEmpty();
    assertThat(call.ids()).as(details).doesNotHaveDuplicates();
    assertThat(call.toString()).doesNotContain("connected: 503", "unreachable");
  }

  private Path values() throws IOException {
    return Files.writeString(
        scratch.resolve("values.yaml"),
        "redis: {url: '%s'}\nupstream: {url: '%s'}\n%s"
            .formatted(redis.url(), server.url(), LongRun.REQUESTED ? "" : SHORT));
  }
}
