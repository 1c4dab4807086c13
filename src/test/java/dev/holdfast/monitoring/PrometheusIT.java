package dev.holdfast.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.MonitoringQueries;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A Prometheus that scrapes a replica, with the alert rules and queries that are shipped. */
@Timeout(180)
class PrometheusIT {

  private static final Pattern LISTENS = Pattern.compile("address=\"?127\\.0\\.0\\.1:(\\d+)");

  private final HttpClient http = HttpClient.newHttpClient();

  @TempDir private Path directory;

  private ServerProcess prometheus(Gateway gateway) throws IOException {
    Files.copy(MonitoringQueries.ALERTS, directory.resolve("alerts.yaml"));
    Path configuration = directory.resolve("prometheus.yml");
    Files.writeString(
        configuration,
        """
        global: {scrape_interval: 1s, evaluation_interval: 1s}
        rule_files: [alerts.yaml]
        scrape_configs:
          - job_name: holdfast
            metrics_path: /q/metrics
            static_configs: [{targets: ["%s"]}]
        """
            .formatted(gateway.url("/q/metrics").getAuthority()));
    return ServerProcess.start(
        new ProcessBuilder(
            "prometheus",
            "--config.file=" + configuration,
            "--storage.tsdb.path=" + directory.resolve("data"),
            "--web.listen-address=127.0.0.1:" + Ports.free()),
        LISTENS);
  }

  private JsonNode get(ServerProcess prometheus, String path)
      throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + prometheus.port() + path);
    return new ObjectMapper()
        .readTree(
            http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                .body());
  }

  private JsonNode query(ServerProcess prometheus, String query)
      throws IOException, InterruptedException {
    return get(
        prometheus, "/api/v1/query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8));
  }

  /** The states of alerts, by their names. */
  private Map<String, String> alerts(ServerProcess prometheus)
      throws IOException, InterruptedException {
    Map<String, String> states = new HashMap<>();
    for (JsonNode alert : get(prometheus, "/api/v1/alerts").at("/data/alerts")) {
      states.put(alert.at("/labels/alertname").asText(), alert.path("state").asText());
    }
    return states;
  }

  @Test
  void shouldAnswerTheQueriesAndRaiseTheAlerts() throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        Gateway gateway = Gateway.start(redis.gatewaySettings());
        ServerProcess prometheus = prometheus(gateway)) {
      McpClient client = McpClient.at(gateway.url()).ready();
      try (FrameStream call = client.call("countdown", "{\"from\":2,\"intervalMs\":10}")) {
        assertThat(call.rest()).isNotEmpty();
      }
      await()
          .atMost(Duration.ofSeconds(60))
          .ignoreExceptions()
          .until(() ->
              query(prometheus, "count_over_time(holdfast_messages_total{from=\"client\"}[5m])")
                      .at("/data/result/0/value/1")
                      .asInt()
                  > 3);

      List<String> failed = new ArrayList<>();
      int answered = 0;
      for (Map.Entry<String, String> each : MonitoringQueries.all().entrySet()) {
        String query =
            each.getValue()
                .replaceAll("\\$__\\w+", "5m")
                .replace("$job", "holdfast")
                .replace("$instance", ".*");
        JsonNode answer = query(prometheus, query);
        if (!answer.path("status").asText().equals("success")) {
          failed.add(each.getKey() + ": " + answer);
        }
        answered += answer.at("/data/result").isEmpty() ? 0 : 1;
      }
      assertThat(failed).isEmpty();
      // Others need errors, or servers that are programs.
      assertThat(answered).isGreaterThan(MonitoringQueries.all().size() / 3);
      JsonNode rules = get(prometheus, "/api/v1/rules").at("/data/groups");
      assertThat(rules.findValuesAsText("health")).isNotEmpty().containsOnly("ok");
      assertThat(alerts(prometheus)).isEmpty();

      redis.kill();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> assertThat(alerts(prometheus)).containsEntry("HoldfastRedisDown", "pending"));
      gateway.kill();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> assertThat(alerts(prometheus)).containsEntry("HoldfastAbsent", "pending"));
    }
  }
}
