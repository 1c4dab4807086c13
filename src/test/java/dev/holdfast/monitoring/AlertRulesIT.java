package dev.holdfast.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testing.MonitoringQueries;
import dev.holdfast.testing.ProcessResult;
import dev.holdfast.testing.Promtool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks alert rules and queries of dashboards with Prometheus' own tool. */
class AlertRulesIT {

  private static final Path TESTS = Path.of("deploy/prometheus/alerts-test.yaml");
  private static final Path CONFIGURATION = Path.of("deploy/prometheus/prometheus.yml");
  private static final Path RUNBOOK = Path.of("docs/operations.md");

  static Stream<String> alerts() throws IOException {
    return MonitoringQueries.alerts().keySet().stream();
  }

  @Test
  void shouldBeValid(@TempDir Path directory) throws IOException {
    // Prometheus looks for the rules beside its configuration.
    Files.copy(MonitoringQueries.ALERTS, directory.resolve("alerts.yaml"));
    Path configuration = Files.copy(CONFIGURATION, directory.resolve("prometheus.yml"));

    ProcessResult rules =
        Promtool.run("check", "rules", "--lint-fatal", MonitoringQueries.ALERTS.toString());
    ProcessResult both = Promtool.run("check", "config", configuration.toString());

    assertThat(rules.exitCode()).as(rules.toString()).isZero();
    assertThat(both.exitCode()).as(both.toString()).isZero();
  }

  @Test
  void shouldPassTheirTests() {
    ProcessResult result = Promtool.run("test", "rules", TESTS.toString());

    assertThat(result.exitCode()).as(result.toString()).isZero();
  }

  /** Prometheus checks queries where they are rules, so those of the dashboards become rules. */
  @Test
  void shouldUseOnlyValidQueries(@TempDir Path directory) throws IOException {
    ProcessResult good = checkAsRules(directory, MonitoringQueries.all().values());
    ProcessResult bad = checkAsRules(directory, List.of("sum(rate(holdfast_gaps_total[5m])"));

    assertThat(good.exitCode()).as(good.toString()).isZero();
    assertThat(bad.exitCode()).as(bad.toString()).isPositive();
  }

  private static ProcessResult checkAsRules(Path directory, Collection<String> queries)
      throws IOException {
    // Grafana replaces these two. Its other variables stand in strings.
    List<Map<String, String>> rules =
        new LinkedHashSet<>(queries)
            .stream()
                .map(query -> query.replaceAll("\\$__\\w+", "5m"))
                .map(query -> Map.of("record", "planted", "expr", query))
                .toList();
    Path file = directory.resolve("queries.yaml");
    // JSON is YAML.
    new ObjectMapper()
        .writeValue(
            file.toFile(), Map.of("groups", List.of(Map.of("name", "queries", "rules", rules))));
    return Promtool.run("check", "rules", file.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "holdfast_log_quota_used_ratio) > 0.9, holdfast_log_quota_used_ratio) > 0.97",
    "holdfast_log_quota_used_ratio) > 0.9, holdfast_log_quota_used_ratio) > 0.8",
    "holdfast_gaps_total, holdfast_gap_total",
    "or holdfast_budget_used_bytes, or holdfast_places_used",
    "(holdfast_upstream_up) == 0, (holdfast_upstream_up) < 2",
    "holdfast_redis_up == 0, holdfast_redis_up < 2",
    "severity: critical, severity: warning",
  })
  void shouldFailTheirTestsAfterAChange(String text, String changed, @TempDir Path directory)
      throws IOException {
    String rules = Files.readString(MonitoringQueries.ALERTS);
    Files.writeString(directory.resolve("alerts.yaml"), rules.replace(text, changed));
    Path tests = directory.resolve("tests.yaml");
    Files.writeString(
        tests, Files.readString(TESTS).replaceFirst("- \\S+alerts\\.yaml", "- alerts.yaml"));

    assertThat(Promtool.run("test", "rules", tests.toString()).exitCode()).isPositive();
  }

  @ParameterizedTest
  @MethodSource("alerts")
  void shouldBeTestedFiringAndQuiet(String alert) throws IOException {
    List<String> cases =
        List.of(Files.readString(TESTS).split("alertname: " + alert + "\\n", -1)).stream()
            .skip(1)
            .map(each -> each.lines().limit(2).toList().getLast().strip())
            .toList();

    assertThat(cases).containsExactly("exp_alerts:", "exp_alerts: []");
  }

  @ParameterizedTest
  @MethodSource("alerts")
  void shouldHaveASeverityAndARunbook(String alert) throws IOException {
    String rule =
        Stream.of(Files.readString(MonitoringQueries.ALERTS).split("- alert: ", -1))
            .filter(each -> each.startsWith(alert + "\n"))
            .findFirst()
            .orElseThrow();

    assertThat(rule)
        .containsPattern("\n +severity: (critical|warning)\n")
        .containsPattern("\n +summary: \\S")
        .contains("\n          runbook: " + RUNBOOK + "#" + alert.toLowerCase(Locale.ROOT) + "\n");
    assertThat(Files.readAllLines(RUNBOOK)).as("headings").contains("### " + alert);
  }
}
