package dev.holdfast.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.NodeFixture;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** The suite without a gateway in between: what fails here is not the gateway's fault. */
class ConformanceRunnerIT {
  @Test
  void shouldFindNothingInTheFixture() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER)) {
      ConformanceReport report = ConformanceRunner.run(server.url(), "fixture");

      assertThat(report.scored())
          .as(report.summary())
          .hasSize(30)
          .allMatch(ScenarioResult::isClean);
      assertThat(report.unscored())
          .as(report.summary())
          .allMatch(ScenarioResult::isClean)
          .extracting(ScenarioResult::name)
          .containsExactlyInAnyOrder(
              "server-session-lifecycle", "server-sse-polling", "json-schema-2020-12");
    }
  }

  @Test
  void shouldFindNothingInTheFixtureWithoutSessions() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.STATELESS_SERVER)) {
      ConformanceReport report =
          ConformanceRunner.run(
              ConformanceRunner.STATELESS_REVISION, server.url(), "stateless-fixture");

      assertThat(report.scored())
          .as(report.summary())
          .hasSize(37)
          .allMatch(ScenarioResult::isClean);
      assertThat(report.unscored())
          .as(report.summary())
          .filteredOn(ScenarioResult::isClean)
          .extracting(ScenarioResult::name)
          .containsExactlyInAnyOrder(
              "json-schema-2020-12",
              "http-header-validation",
              "http-custom-header-server-validation");
    }
  }

  @Test
  void shouldFindNothingInTheClient() {
    ConformanceReport report =
        ConformanceRunner.runClient(NodeFixture.words(NodeFixture.CONFORMANCE_CLIENT), "client");

    assertThat(report.scored()).as(report.summary()).hasSize(7).allMatch(ScenarioResult::isClean);
  }

  @Test
  void shouldReportEveryScenarioAsFailedWithoutAServer() {
    ConformanceReport report =
        ConformanceRunner.run(URI.create("http://127.0.0.1:1/mcp"), "no-server");

    assertThat(report.scored()).hasSize(30).noneMatch(ScenarioResult::isPassed);
    assertThat(report.scenario("ping").problems()).isNotEmpty();
  }

  @Test
  void shouldReportMissingResumptionAsWarning() {
    try (NodeFixture server =
        NodeFixture.start(NodeFixture.CONFORMANCE_SERVER, "--resumable", "false")) {
      ConformanceReport report = ConformanceRunner.run(server.url(), "not-resumable");

      ScenarioResult polling = report.scenario("server-sse-polling");
      assertThat(polling.failed()).as(report.summary()).isZero();
      assertThat(polling.warnings()).as(report.summary()).isPositive();
      assertThat(polling.scored()).isFalse();
    }
  }
}
