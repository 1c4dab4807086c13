package dev.holdfast.http;

import static io.restassured.RestAssured.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What those who run the gateway see of it. */
@QuarkusTest
@TestProfile(Profiles.Usual.class)
class OperationsTest {

  @Inject ManualTool tool;

  @Test
  void shouldBeReadyWhileTheStoreAnswers() {
    get("/q/health/ready")
        .then()
        .statusCode(200)
        .body("status", equalTo("UP"))
        .body("checks.name", hasItem("store"));
    get("/q/health/live").then().statusCode(200);
    get("/q/health/started").then().statusCode(200);
  }

  @Test
  void shouldCountWhatItDoes() {
    List<String> counters =
        List.of(
            "holdfast_sessions_opened_total",
            "holdfast_sessions_ended_total",
            "holdfast_connections_opened_total",
            "holdfast_events_appended_total",
            "holdfast_events_delivered_total",
            "holdfast_append_time_seconds_count",
            "holdfast_replay_time_seconds_count",
            "holdfast_replay_events_sum");
    double[] before = counters.stream().mapToDouble(Metrics::of).toArray();
    McpClient client = McpClient.at(Endpoints.usual());
    ManualCall call = ManualCall.begin(client, tool);
    call.stream().cut();
    call.say("missed");
    FrameStream rest = client.resume(call.stream().lastEventId());
    rest.event();
    call.assertGoesOn(rest, 2);
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
  void shouldCountTheConnectionsThatAreOpen() {
    await().until(() -> Metrics.of(Metrics.CONNECTIONS) == 0);
    McpClient client = McpClient.at(Endpoints.usual());
    FrameStream stream = client.listen();
    stream.next();

    assertThat(Metrics.of(Metrics.CONNECTIONS)).isOne();

    stream.cut();
    await().until(() -> Metrics.of(Metrics.CONNECTIONS) == 0);
    client.delete();
  }

  @Test
  void shouldCountServersThatFail() {
    String broken = "holdfast_upstream_errors_total{kind=\"broken\"}";
    double before = Metrics.of(broken);

    McpClient.at(Endpoints.server("scripted")).call("break", "{}").rest();

    await().untilAsserted(() -> assertThat(Metrics.of(broken)).isEqualTo(before + 1));
  }
}
