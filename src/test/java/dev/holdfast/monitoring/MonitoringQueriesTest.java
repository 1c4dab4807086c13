package dev.holdfast.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testing.DocumentedMetrics;
import dev.holdfast.testing.MonitoringQueries;
import dev.holdfast.testing.Scrape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks the dashboards, and the comparison of queries with a scrape. The tests that run a gateway
 * compare the queries with its metrics: {@code HealthAndMetricsTest} and {@code StoreAwayIT}.
 */
class MonitoringQueriesTest {

  private static final Scrape SCRAPE =
      new Scrape(
          """
          # TYPE calls counter
          calls_total{kind="a",from="x",} 1.0
          calls_total{kind="b",from="x",} 2.0
          time_seconds_bucket{le="0.5",} 1.0
          time_seconds_bucket{le="+Inf",} 1.0
          up_seconds NaN
          """);

  /** A native program does not have these. */
  private static final Pattern ONLY_JVM =
      Pattern.compile("jvm_gc_\\w*|jvm_buffer_\\w*|jvm_memory_max_bytes");

  static List<Path> dashboards() throws IOException {
    return MonitoringQueries.dashboards();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "up_seconds",
        "sum by (kind) (rate(calls_total{job=~\"$job\", kind=\"a\"}[5m])) / 1e9 > 0.5",
        "sum(increase(calls_total{kind=~\"a|b\"}[$__rate_interval])) by (from, instance)",
        "histogram_quantile(0.99, sum by (job, le) (rate(time_seconds_bucket[5m]))) > 1",
        "up_seconds != up_seconds and on (job) calls_total{kind=~\"$kind\"} offset 5m"
      })
  void shouldAcceptNamesOfTheScrape(String query) {
    assertThat(SCRAPE.unknown(query)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "rate(call_total[5m]); call_total",
        "absent(up_second); up_second",
        "up_seconds and calls; calls",
        "calls_total{kinds=\"a\"}; calls_total{kinds}",
        "calls_total{kind=\"c\"}; calls_total{kind=\"c\"}",
        "calls_total{from=\"x\", kind=~\"a|c\"}; calls_total{kind=\"c\"}",
        "up_seconds{kind=\"a\"}; up_seconds{kind}",
        "sum by (kind) (up_seconds); by(kind)",
        "histogram_quantile(0.5, sum by (lee) (rate(time_seconds_bucket[5m]))); by(lee)"
      })
  void shouldReportNamesThatTheScrapeDoesNotHave(String query, String unknown) {
    assertThat(SCRAPE.unknown(query)).containsExactly(unknown);
  }

  @Test
  void shouldShowEveryDocumentedMetric() throws IOException {
    Set<String> missing = new TreeSet<>();
    for (DocumentedMetrics.Part part : DocumentedMetrics.Part.values()) {
      missing.addAll(DocumentedMetrics.of(part).keySet());
    }
    for (Path dashboard : dashboards()) {
      for (String query : MonitoringQueries.of(dashboard).values()) {
        missing.removeIf(metric -> shows(query, metric));
      }
    }

    assertThat(missing).isEmpty();
  }

  private static boolean shows(String query, String metric) {
    return Pattern.compile("\\b" + metric + "(_bucket|_count|_sum|_max)?\\b").matcher(query).find();
  }

  @Test
  void shouldUseNoMetricsThatANativeProgramLacks() throws IOException {
    assertThat(MonitoringQueries.all().values())
        .hasSizeGreaterThan(60)
        .noneMatch(query -> ONLY_JVM.matcher(query).find());
  }

  @Test
  void shouldReadEveryAlert() throws IOException {
    String rules = Files.readString(MonitoringQueries.ALERTS);

    assertThat(MonitoringQueries.alerts()).hasSize(rules.split("- alert:", -1).length - 1);
  }

  @ParameterizedTest
  @MethodSource("dashboards")
  void shouldPlaceEachPanelOnceAndExplainIt(Path dashboard) throws IOException {
    JsonNode root = new ObjectMapper().readTree(dashboard.toFile());
    Set<Integer> ids = new HashSet<>();
    Set<String> cells = new HashSet<>();

    for (JsonNode panel : root.path("panels")) {
      assertThat(ids.add(panel.path("id").asInt())).as(panel.toString()).isTrue();
      assertThat(cellsOf(panel.path("gridPos"))).as(panel.toString()).allMatch(cells::add);
    }
    assertThat(ids).isNotEmpty();
    assertThat(root.path("uid").asText()).startsWith("holdfast-");
  }

  /** Grafana's grid is 24 columns wide. */
  private static Stream<String> cellsOf(JsonNode place) {
    int x = place.path("x").asInt();
    int y = place.path("y").asInt();
    assertThat(x + place.path("w").asInt()).isBetween(1, 24);
    return Stream.iterate(x, i -> i < x + place.path("w").asInt(), i -> i + 1)
        .flatMap(i ->
            Stream.iterate(y, j -> j < y + place.path("h").asInt(), j -> j + 1)
                .map(j -> i + ":" + j));
  }
}
