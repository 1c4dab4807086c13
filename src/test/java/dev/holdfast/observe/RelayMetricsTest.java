package dev.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.relay.stream.MessageKind;
import dev.holdfast.upstream.UpstreamException;
import io.micrometer.prometheus.PrometheusConfig;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Which figure moves, as Prometheus reads it, when something is told: that one and no other. */
@SuppressWarnings("deprecation") // The registry that Quarkus brings along.
class RelayMetricsTest {

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final RelayMetrics relay = new RelayMetrics(registry);
  private final RedisMetrics redis = new RedisMetrics(registry);

  /** All that is not 0. */
  private List<String> moved() {
    return registry
        .scrape()
        .lines()
        .filter(line -> !line.startsWith("#") && !line.endsWith(" 0.0"))
        .sorted()
        .toList();
  }

  @Test
  void shouldStandStillWhileNothingHappens() {
    assertThat(moved()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(MessageKind.class)
  void shouldTellMessagesApart(MessageKind kind) {
    String name = kind.name().toLowerCase(Locale.ROOT);

    relay.fromClient(kind);
    relay.fromUpstream(kind);
    relay.fromUpstream(kind);

    assertThat(moved())
        .containsExactly(
            "holdfast_messages_total{from=\"client\",kind=\"" + name + "\",} 1.0",
            "holdfast_messages_total{from=\"upstream\",kind=\"" + name + "\",} 2.0");
  }

  @Test
  void shouldCountStreamsThatGoOn() {
    relay.takenOver(true);

    assertThat(moved()).containsExactly("holdfast_takeovers_total{resumed=\"true\",} 1.0");
  }

  @Test
  void shouldCountStreamsThatAreLost() {
    relay.takenOver(false);

    assertThat(moved()).containsExactly("holdfast_takeovers_total{resumed=\"false\",} 1.0");
  }

  @Test
  void shouldCountGaps() {
    relay.gap();

    assertThat(moved()).containsExactly("holdfast_gaps_total 1.0");
  }

  @Test
  void shouldCountWhatWentPastTheLog() {
    relay.passed(3);

    assertThat(moved()).containsExactly("holdfast_events_unlogged_total 3.0");
  }

  @Test
  void shouldMeasureAppends() {
    relay.appended(3, Duration.ofSeconds(2));

    assertThat(moved())
        .containsExactly(
            "holdfast_append_time_seconds_count 1.0",
            "holdfast_append_time_seconds_max 2.0",
            "holdfast_append_time_seconds_sum 2.0",
            "holdfast_events_appended_total 3.0");
  }

  @Test
  void shouldMeasureReplays() {
    relay.replayed(3, Duration.ofSeconds(2));

    assertThat(moved())
        .containsExactly(
            "holdfast_replay_events_count 1.0",
            "holdfast_replay_events_max 3.0",
            "holdfast_replay_events_sum 3.0",
            "holdfast_replay_time_seconds_count 1.0",
            "holdfast_replay_time_seconds_max 2.0",
            "holdfast_replay_time_seconds_sum 2.0");
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of("unreachable", new UpstreamException.Unreachable(null)),
        Arguments.of("busy", new UpstreamException.Busy()),
        Arguments.of("timed_out", new UpstreamException.TimedOut("x")),
        Arguments.of("session_gone", new UpstreamException.SessionGone()),
        Arguments.of("refused", new UpstreamException.Refused(500, null)),
        Arguments.of("broken", new UpstreamException.Broken("x", null)));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void shouldTellFailuresOfUpstreamsApart(String kind, UpstreamException failure) {
    relay.upstreamFailed(failure);

    assertThat(moved())
        .containsExactly("holdfast_upstream_errors_total{kind=\"" + kind + "\",} 1.0");
  }

  @Test
  void shouldMeasureWhatRedisAnswers() {
    redis.answered(Duration.ofSeconds(2).toNanos());

    assertThat(moved())
        .containsExactly(
            "holdfast_redis_round_trips_seconds_count 1.0",
            "holdfast_redis_round_trips_seconds_max 2.0",
            "holdfast_redis_round_trips_seconds_sum 2.0");
  }

  @Test
  void shouldCountWhatRedisDoesNotAnswer() {
    redis.unanswered();

    assertThat(moved()).containsExactly("holdfast_redis_failures_total 1.0");
  }
}
