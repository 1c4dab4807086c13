package dev.holdfast.http;

import static io.restassured.RestAssured.get;
import static io.restassured.RestAssured.given;
import static io.restassured.RestAssured.head;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;

import dev.holdfast.http.limit.Client;
import dev.holdfast.http.limit.ClientBytes;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.relay.Housekeeping;
import dev.holdfast.session.SessionStore;
import dev.holdfast.testing.DocumentedMetrics;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.MonitoringQueries;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks what operators see: health, metrics and the activity of sessions. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class HealthAndMetricsTest {

  @Inject ControlledTool tool;
  @Inject Housekeeping housekeeping;
  @Inject SessionStore store;
  @Inject ConnectionLimit connections;
  @Inject RequestLimit requests;
  @Inject ClientBytes bodies;

  /** The autoscaler of the chart may use it. */
  @Test
  void shouldTellTheUsedPartOfTheOldGeneration() {
    assertThat(get(GatewayUrl.management("/q/metrics")).asString())
        .containsPattern("(?m)^jvm_memory_usage_after_gc\\{area=\"heap\",pool=\"long-lived\"");
  }

  @Test
  void shouldBeReadyWhileTheStoreAnswers() {
    get(GatewayUrl.management("/q/health/ready"))
        .then()
        .statusCode(200)
        .body("status", equalTo("UP"))
        .body("checks.name", containsInAnyOrder("store", "Graceful Shutdown"));
    get(GatewayUrl.management("/q/health/well")).then().body("checks.name", hasItem("issuers"));
    get(GatewayUrl.management("/q/health/live")).then().statusCode(200);
    get(GatewayUrl.management("/q/health/started"))
        .then()
        .statusCode(200)
        .body("checks.name", contains("listening"))
        .body("status", equalTo("UP"));
  }

  @Test
  void shouldReportHealth() {
    McpClient client = McpClient.at(GatewayUrl.mcp());

    // The count of sessions is cached for one second.
    await()
        .untilAsserted(
            () -> assertThat(get("/health").<Integer>path("active_sessions")).isPositive());
    Response health = given().header("Host", "10.1.2.3:8080").get("/health");

    assertThat(health.statusCode()).isEqualTo(200);
    assertThat(health.contentType()).startsWith("application/json");
    assertThat(health.header("Cache-Control")).isEqualTo("no-store");
    assertThat(health.<Map<String, Object>>path(""))
        .containsOnlyKeys("status", "active_sessions", "uptime_seconds", "version")
        .containsEntry("status", "healthy");
    assertThat(health.<Integer>path("uptime_seconds")).isNotNegative();
    assertThat(health.<String>path("version")).matches("\\d+\\.\\d+.*");
    assertThat(head("/health").statusCode()).isEqualTo(200);
    client.delete();
  }

  /** Probes use the address of the pod, which is not an allowed host. */
  @Test
  void shouldAnswerProbesByAddress() {
    for (URI url :
        List.of(
            GatewayUrl.of("/health"),
            GatewayUrl.management("/q/health/ready"),
            GatewayUrl.management("/q/health/live"),
            GatewayUrl.management("/q/metrics"))) {
      assertThat(given().header("Host", "10.1.2.3").get(url).statusCode())
          .as(url.toString())
          .isEqualTo(200);
    }
  }

  /** What clients reach has neither. */
  @Test
  void shouldNotServeHealthChecksAndMetricsToClients() {
    for (String path : List.of("/q/health/ready", "/q/metrics", "/q")) {
      assertThat(get(path).statusCode()).as(path).isEqualTo(404);
    }
  }

  /** No proxy is trusted, so the gateway ignores the forwarding headers of a client. */
  @Test
  void shouldRecordTheActivityOfASession() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    client.post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    given()
        .header("Mcp-Session-Id", client.session())
        .header("Accept", "text/event-stream")
        .header("Last-Event-ID", "nosuchstream_1-1")
        .header("X-Forwarded-For", "192.0.2.9")
        .header("Forwarded", "for=192.0.2.9")
        .get("/mcp")
        .then()
        .statusCode(400);

    housekeeping.sweep();

    SessionStore.Page.Entry entry =
        store.list(null, 500).entries().stream()
            .filter(each -> each.session().id().value().equals(client.session()))
            .findFirst()
            .orElseThrow();
    assertThat(entry.activity().address()).isEqualTo("127.0.0.1");
    assertThat(entry.activity().requests()).isEqualTo(3);
    assertThat(entry.activity().errors()).isEqualTo(1);
    assertThat(entry.activity().lastUsed()).isAfterOrEqualTo(entry.session().created());
    client.delete();
  }

  /**
   * A client that asks for a session or for events that are not there. {@code InvalidRequestTest}
   * and {@code RelayResumeTest} read the lines, which have the causes.
   */
  @ParameterizedTest
  @CsvSource({
    "of nobody, , 404, holdfast_errors_total{kind=\"not_found\"}",
    "malformed, , 404, holdfast_errors_total{kind=\"not_found\"}",
    "own, nosuchstream_1-1, 400, holdfast_errors_total{kind=\"bad_request\"}",
    "own, nosuchstream_0-0, 410, holdfast_errors_total{kind=\"purged\"}",
    "own, nosuchstream_0-0, 410, holdfast_gaps_total",
  })
  void shouldCountOnceWhatIsNotThere(
      String whose, @Nullable String lastId, int status, String counter) {
    McpClient client = McpClient.at(GatewayUrl.mcp()).ready();
    String session =
        switch (whose) {
          case "own" -> client.session();
          case "of nobody" -> "x".repeat(43);
          default -> whose;
        };
    double before = Metrics.of(counter);

    for (int i = 0; i < 3; i++) {
      RequestSpecification request =
          given().header("Mcp-Session-Id", session).header("Accept", "text/event-stream");
      if (lastId != null) {
        request.header("Last-Event-ID", lastId);
      }
      request.get("/mcp").then().statusCode(status);
    }

    await().untilAsserted(() -> assertThat(Metrics.of(counter)).isGreaterThanOrEqualTo(before + 3));
    assertThat(Metrics.of(counter)).isEqualTo(before + 3);
    client.delete();
  }

  @Test
  void shouldCountSessionsMessagesAndEvents() {
    List<String> counters =
        List.of(
            "holdfast_sessions_opened_total",
            "holdfast_sessions_ended_total",
            "holdfast_session_duration_seconds_count",
            "holdfast_messages_total{from=\"client\",kind=\"request\"}",
            "holdfast_messages_total{from=\"upstream\",kind=\"notification\"}",
            "holdfast_messages_total{from=\"upstream\",kind=\"response\"}",
            "holdfast_errors_total{kind=\"not_found\"}",
            "process_uptime_seconds",
            "holdfast_connections_opened_total",
            "holdfast_events_appended_total",
            "holdfast_events_delivered_total",
            "holdfast_append_duration_seconds_count{upstream=\"default\"}",
            "holdfast_delivery_delay_seconds_count{upstream=\"default\"}",
            "holdfast_replay_duration_seconds_count{upstream=\"default\"}",
            "holdfast_replay_events_sum",
            "holdfast_call_duration_seconds_count{upstream=\"default\"}");
    double[] before = counters.stream().mapToDouble(Metrics::of).toArray();
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);
    call.stream().cut();
    call.send("missed");
    FrameStream rest = client.resume(call.stream().lastEventId());
    rest.event();
    call.assertContinues(rest, 2);
    client.delete();
    client.delete();

    await()
        .untilAsserted(() ->
            assertThat(counters)
                .allSatisfy(name ->
                    assertThat(Metrics.of(name))
                        .as(name)
                        .isGreaterThan(before[counters.indexOf(name)])));
  }

  @Test
  void shouldMeasureTheSizeOfTheLog() {
    McpClient client = McpClient.at(GatewayUrl.mcp());
    ControlledCall call = ControlledCall.start(client, tool);

    await()
        .untilAsserted(() -> {
          assertThat(Metrics.of("holdfast_log_events")).isPositive();
          assertThat(Metrics.of("holdfast_log_bytes")).isPositive();
          assertThat(Metrics.of("holdfast_log_quota_used_ratio")).isBetween(0.0, 1.0);
          assertThat(Metrics.of("holdfast_sessions_active")).isPositive();
          assertThat(Metrics.of("holdfast_places_used{limit=\"sessions\"}")).isPositive();
          assertThat(Metrics.of("holdfast_places_used{limit=\"connections\"}")).isPositive();
          assertThat(Metrics.of("holdfast_calls_in_flight{upstream=\"default\"}")).isPositive();
          assertThat(Metrics.of("holdfast_streams_active")).isPositive();
          assertThat(Metrics.of("holdfast_draining")).isZero();
        });

    call.assertContinues(call.stream(), 1);
    client.delete();
  }

  @Test
  void shouldMeasureLimits() {
    String places = "holdfast_places_%s{limit=\"%s\"}";
    String bytes = "holdfast_budget_%s_bytes{limit=\"%s\"}";
    ConnectionLimit.Slot slot = connections.acquire(Client.at("192.0.2.7"));
    try (ClientBytes.Lease lease = bodies.open(Client.at("192.0.2.7"))) {
      lease.take(70_000);
      assertThat(slot.tryHold(80_000)).isTrue();
      try (RequestLimit.Place _ = requests.enter("default", Client.at("192.0.2.7"))) {
        assertThat(Metrics.of(places.formatted("used", "requests"))).isPositive().isLessThan(20);
      }

      assertThat(Metrics.of(bytes.formatted("used", "request_bytes")))
          .isGreaterThanOrEqualTo(70_000);
      assertThat(Metrics.of(bytes.formatted("used", "unread_bytes")))
          .isGreaterThanOrEqualTo(80_000);
    } finally {
      slot.giveBack();
      slot.release();
    }
    assertThat(Metrics.of(places.formatted("limit", "requests"))).isEqualTo(20);
    assertThat(Metrics.of(places.formatted("limit", "sessions"))).isGreaterThan(100);
    assertThat(Metrics.of(places.formatted("limit", "connections"))).isGreaterThan(100);
    assertThat(Metrics.of(bytes.formatted("limit", "request_bytes"))).isGreaterThan(70_000);
    assertThat(Metrics.of(bytes.formatted("limit", "unread_bytes"))).isGreaterThan(80_000);
    await()
        .untilAsserted(() ->
            assertThat(Metrics.of(bytes.formatted("used", "unread_bytes"))).isLessThan(80_000));
  }

  @Test
  void shouldMeasureEachUpstream() {
    String errors = "holdfast_upstream_errors_total{kind=\"unreachable\",upstream=\"%s\"}";
    double before = Metrics.of(errors.formatted("down"));
    double other = Metrics.of(errors.formatted("scripted"));

    var _ = McpClient.at(GatewayUrl.mcp("down")).initialized();
    McpClient.at(GatewayUrl.mcp("scripted")).delete();

    assertThat(Metrics.of(errors.formatted("down"))).isEqualTo(before + 1);
    assertThat(Metrics.of(errors.formatted("scripted"))).isEqualTo(other);
    assertThat(Metrics.scrape())
        .contains(
            "holdfast_upstream_up{upstream=\"down\"} 0.0",
            "holdfast_upstream_up{upstream=\"scripted\"} 1.0",
            "holdfast_stdio_processes_limit{upstream=\"scripted\"} 0.0");
  }

  @Test
  void shouldDescribeTheProgramAndEachMetric() {
    String scrape = Metrics.scrape();

    assertThat(scrape).containsPattern("(?m)^holdfast_build_info\\{version=\"\\d[^\"]+\"} 1.0$");
    List<String> names =
        scrape.lines().filter(line -> line.startsWith("# TYPE holdfast_")).toList();
    assertThat(names).hasSizeGreaterThan(30);
    assertThat(names)
        .allSatisfy(type ->
            assertThat(scrape)
                .containsPattern("(?m)^# HELP " + type.split(" ", -1)[2] + " \\S.*[^.]$"));
  }

  @Test
  void shouldExportExactlyTheDocumentedMetrics() throws IOException {
    Map<String, String> documented = DocumentedMetrics.of(DocumentedMetrics.Part.ANY_STORE);

    assertThat(DocumentedMetrics.scraped(Metrics.scrape())).isEqualTo(documented);
  }

  @Test
  void shouldHaveTheMetricsOfDashboardsAndAlerts() throws IOException {
    Set<String> others = new HashSet<>(DocumentedMetrics.of(DocumentedMetrics.Part.REDIS).keySet());
    others.addAll(DocumentedMetrics.of(DocumentedMetrics.Part.TLS).keySet());

    assertThat(MonitoringQueries.unknown(Metrics.scrape()).values())
        .allSatisfy(unknown ->
            assertThat(unknown).allMatch(name -> others.stream().anyMatch(name::startsWith)));
  }

  @Test
  void shouldCountOpenConnections() {
    await().until(() -> Metrics.of(Metrics.CONNECTIONS) == 0);
    McpClient client = McpClient.at(GatewayUrl.mcp());
    FrameStream stream = client.listen();
    stream.next();

    assertThat(Metrics.of(Metrics.CONNECTIONS)).isOne();

    stream.cut();
    await().until(() -> Metrics.of(Metrics.CONNECTIONS) == 0);
    client.delete();
  }

  @Test
  void shouldLogWhyAThreadEnds() throws Exception {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      Thread.ofVirtual()
          .name("planted")
          .start(() -> {
            throw new IllegalStateException("planted");
          })
          .join(); // A wait would take the exception for its own.

      log.await("thread ended unexpectedly name=planted");
    }
  }

  @Test
  void shouldCountUpstreamErrors() {
    String broken = "holdfast_upstream_errors_total{kind=\"broken\",upstream=\"scripted\"}";
    double before = Metrics.of(broken);

    McpClient.at(GatewayUrl.mcp("scripted")).call("break", "{}").rest();

    await().untilAsserted(() -> assertThat(Metrics.of(broken)).isEqualTo(before + 1));
  }
}
