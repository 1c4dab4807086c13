package dev.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.RelayListener.MessageKind;
import dev.holdfast.relay.stream.StreamListener;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMonitor;
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

/** Checks that each event changes its own metrics and no others, as Prometheus reads them. */
@SuppressWarnings("deprecation") // Quarkus uses this registry.
class MetricsTest {

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Metrics relay = new Metrics(registry, CallListener.NONE);
  private final Metrics.OfRedis redis = new Metrics.OfRedis(registry);

  /** Returns the metrics whose value is not 0, without buckets. */
  private List<String> nonZeroMetrics() {
    return registry
        .scrape()
        .lines()
        .filter(line -> !line.startsWith("#") && !line.endsWith(" 0.0"))
        .filter(line -> !line.contains("_bucket{"))
        .sorted()
        .toList();
  }

  /** Lets an upstream have a name. Its gauges are removed: they are not 0. */
  private void register(String name) {
    var _ = relay.ofUpstream(name, new UpstreamMonitor(), () -> Upstream.ProcessCount.NONE);
    relay.forget(name);
  }

  @Test
  void shouldStartAtZero() {
    assertThat(nonZeroMetrics()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(MessageKind.class)
  void shouldCountMessagesByKind(MessageKind kind) {
    String name = kind.name().toLowerCase(Locale.ROOT);

    relay.fromClient(kind);
    relay.fromUpstream(kind);
    relay.fromUpstream(kind);

    assertThat(nonZeroMetrics())
        .containsExactly(
            "holdfast_messages_total{from=\"client\",kind=\"" + name + "\",} 1.0",
            "holdfast_messages_total{from=\"upstream\",kind=\"" + name + "\",} 2.0");
  }

  @Test
  void shouldCountResumedTakeovers() {
    relay.takenOver(true);

    assertThat(nonZeroMetrics()).containsExactly("holdfast_takeovers_total{resumed=\"true\",} 1.0");
  }

  @Test
  void shouldCountTakeoversThatLoseTheStream() {
    relay.takenOver(false);

    assertThat(nonZeroMetrics())
        .containsExactly("holdfast_takeovers_total{resumed=\"false\",} 1.0");
  }

  @Test
  void shouldCountGaps() {
    relay.gap();

    assertThat(nonZeroMetrics()).containsExactly("holdfast_gaps_total 1.0");
  }

  @Test
  void shouldCountUnloggedEvents() {
    relay.deliveredUnlogged(3);

    assertThat(nonZeroMetrics()).containsExactly("holdfast_events_unlogged_total 3.0");
  }

  @Test
  void shouldMeasureAppends() {
    register("a");

    relay.streamsOf("a").appended(3, Duration.ofSeconds(2));

    assertThat(nonZeroMetrics())
        .containsExactly(
            "holdfast_append_duration_seconds_count{upstream=\"a\",} 1.0",
            "holdfast_append_duration_seconds_max{upstream=\"a\",} 2.0",
            "holdfast_append_duration_seconds_sum{upstream=\"a\",} 2.0",
            "holdfast_events_appended_total 3.0");
  }

  @Test
  void shouldMeasureDeliveries() {
    register("a");
    register("b");

    relay.streamsOf("b").deliveredLive(Duration.ofMillis(7));

    assertThat(nonZeroMetrics())
        .containsExactly(
            "holdfast_delivery_delay_seconds_count{upstream=\"b\",} 1.0",
            "holdfast_delivery_delay_seconds_max{upstream=\"b\",} 0.007",
            "holdfast_delivery_delay_seconds_sum{upstream=\"b\",} 0.007");
  }

  @Test
  void shouldCountDurationsInBuckets() {
    register("a");
    StreamListener streams = relay.streamsOf("a");

    streams.deliveredLive(Duration.ofMillis(5));
    streams.deliveredLive(Duration.ofMillis(6));
    streams.deliveredLive(Duration.ofSeconds(6));

    assertThat(registry.scrape().lines().filter(line -> line.startsWith("holdfast_delivery")))
        .contains(
            "holdfast_delivery_delay_seconds_bucket{upstream=\"a\",le=\"0.001\",} 0.0",
            "holdfast_delivery_delay_seconds_bucket{upstream=\"a\",le=\"0.005\",} 1.0",
            "holdfast_delivery_delay_seconds_bucket{upstream=\"a\",le=\"0.01\",} 2.0",
            "holdfast_delivery_delay_seconds_bucket{upstream=\"a\",le=\"5.0\",} 2.0",
            "holdfast_delivery_delay_seconds_bucket{upstream=\"a\",le=\"+Inf\",} 3.0");
  }

  @Test
  void shouldMeasureReplays() {
    register("a");

    relay.streamsOf("a").replayed(3, Duration.ofSeconds(2));

    assertThat(nonZeroMetrics())
        .containsExactly(
            "holdfast_replay_duration_seconds_count{upstream=\"a\",} 1.0",
            "holdfast_replay_duration_seconds_max{upstream=\"a\",} 2.0",
            "holdfast_replay_duration_seconds_sum{upstream=\"a\",} 2.0",
            "holdfast_replay_events_count 1.0",
            "holdfast_replay_events_max 3.0",
            "holdfast_replay_events_sum 3.0");
  }

  /** Names come from Redis too, where replicas of other configurations write. */
  @Test
  void shouldShareTheMetricsOfUnknownUpstreams() {
    relay.streamsOf("removed").appended(1, Duration.ofSeconds(1));
    relay.streamsOf("foreign").appended(1, Duration.ofSeconds(1));

    assertThat(nonZeroMetrics())
        .contains("holdfast_append_duration_seconds_count{upstream=\"\",} 2.0")
        .noneMatch(line -> line.contains("removed") || line.contains("foreign"));
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of("unreachable", new UpstreamException.Unreachable(null)),
        Arguments.of("busy", new UpstreamException.Busy()),
        Arguments.of("timed_out", new UpstreamException.TimedOut("x")),
        Arguments.of("session_gone", new UpstreamException.SessionGone()),
        Arguments.of("refused", new UpstreamException.Refused(500, null, null)),
        Arguments.of("broken", new UpstreamException.Broken("x", null)));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void shouldCountUpstreamFailuresByKind(String kind, UpstreamException failure) {
    relay.upstreamFailed("a", failure);

    assertThat(nonZeroMetrics())
        .containsExactly(
            "holdfast_upstream_errors_total{kind=\"" + kind + "\",upstream=\"a\",} 1.0");
  }

  @Test
  void shouldMeasureRedisRoundTrips() {
    redis.answered(Duration.ofSeconds(2).toNanos());

    assertThat(nonZeroMetrics())
        .containsExactly(
            "holdfast_redis_round_trip_seconds_count 1.0",
            "holdfast_redis_round_trip_seconds_max 2.0",
            "holdfast_redis_round_trip_seconds_sum 2.0");
  }

  @Test
  void shouldCountRedisFailures() {
    redis.unanswered();

    assertThat(nonZeroMetrics()).containsExactly("holdfast_redis_failures_total 1.0");
  }
}
