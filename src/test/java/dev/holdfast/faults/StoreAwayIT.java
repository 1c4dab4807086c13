package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.DocumentedMetrics;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.MonitoringQueries;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.SseClient;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What clients and readiness probes are told while Redis is away. */
@Timeout(90)
class StoreAwayIT {

  private static final String CALL =
      """
      {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo",\
      "arguments":{"message":"still there"}}}\
      """;

  @Test
  void shouldSay503WhileRedisIsAwayAndServeTheSameSessionAfterwards() throws Exception {
    try (RedisFixture redis = RedisFixture.startDurable();
        Gateway gateway =
            Gateway.start(
                redis.gatewaySettings(
                    "holdfast.redis.timeout", "300ms", "holdfast.cleanup-interval", "500ms"))) {
      McpClient client = McpClient.at(gateway.url());

      String metrics = gateway.get("/q/metrics").body();
      assertThat(MonitoringQueries.unknown(metrics).values())
          .allMatch(DocumentedMetrics.of(DocumentedMetrics.Part.TLS).keySet()::containsAll);
      assertThat(DocumentedMetrics.scraped(metrics))
          .containsAllEntriesOf(DocumentedMetrics.of(DocumentedMetrics.Part.ANY_STORE))
          .containsAllEntriesOf(DocumentedMetrics.of(DocumentedMetrics.Part.REDIS));
      assertThat(metrics).contains("holdfast_redis_up 1.0");
      assertThat(gateway.get("/health").body()).contains("\"healthy\"", "\"active_sessions\":1");

      redis.kill();
      HttpResponse<String> away = client.post(CALL);

      assertThat(away.statusCode()).as(away.body()).isEqualTo(503);
      assertThat(away.headers().firstValue("Retry-After")).contains("1");
      assertThat(away.body()).contains("\"id\":7").contains("\"code\":-32000");
      assertThat(readiness(gateway)).isEqualTo(503);
      assertThat(gateway.get("/q/health/ready").body())
          .contains("\"reason\": \"could not reach the store: ");
      await().until(() -> gateway.output().contains("a sweep failed, the next one catches up"));
      await()
          .untilAsserted(() ->
              assertThat(gateway.get("/health").body())
                  .contains("\"unhealthy\"", "\"active_sessions\":null"));
      assertThat(gateway.get("/health").statusCode()).isEqualTo(503);
      await().until(() -> gateway.output().contains("Redis is away reason="));
      await()
          .untilAsserted(() ->
              assertThat(gateway.get("/q/metrics").body())
                  .contains("holdfast_sessions_active NaN", "holdfast_redis_up 0.0"));

      redis.restart();
      await().atMost(Duration.ofSeconds(20)).until(() -> readiness(gateway) == 200);
      await()
          .untilAsserted(
              () -> assertThat(gateway.get("/q/metrics").body()).contains("holdfast_redis_up 1.0"));
      HttpResponse<String> back = client.post(CALL);

      assertThat(back.statusCode()).as(back.body()).isEqualTo(200);
      assertThat(back.body()).contains("still there");
      await()
          .untilAsserted(() ->
              assertThat(gateway.output())
                  .containsOnlyOnce("Redis is away reason=")
                  .containsOnlyOnce("Redis is back away-seconds="));
    }
  }

  /**
   * Also calls whose clients have resumed them. Otherwise, an SDK would wait for the response until
   * its own time limit.
   */
  @Test
  void shouldEndCallsWithAnErrorWhenRedisHasLostEverything() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      List<Gateway> gateways = Gateway.startPair(redis.gatewaySettings());
      try (Gateway owner = gateways.getFirst();
          Gateway other = gateways.getLast()) {
        McpClient client = McpClient.at(owner.url()).ready();
        McpClient elsewhere = client.elsewhere(other.url());
        FrameStream one = countdown(client);
        FrameStream two = countdown(client);
        FrameStream three = countdown(client);
        FrameStream resumed = client.resume(cut(two));
        FrameStream resumedElsewhere = elsewhere.resume(cut(three));
        Frame.Event _ = resumed.event();
        Frame.Event _ = resumedElsewhere.event();

        redis.command("FLUSHALL");

        assertLost(one, 1);
        assertLost(resumed, 2);
        assertLost(resumedElsewhere, 3);
      }
    }
  }

  /** Over HTTP with SSE, also calls whose messages went to another replica than the stream. */
  @Test
  void shouldEndCallsOverHttpWithSseWhenRedisHasLostEverything() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      List<Gateway> gateways = Gateway.startPair(redis.gatewaySettings());
      try (Gateway owner = gateways.getFirst();
          Gateway other = gateways.getLast()) {
        SseClient first = SseClient.initialized(owner.url("/sse"));
        SseClient second = SseClient.initialized(owner.url("/sse"));
        for (SseClient client : List.of(first, second)) {
          URI elsewhere = other.url(URI.create(client.endpoint()).getPath());
          assertThat(client.post(counting(1)).statusCode()).isEqualTo(202);
          assertThat(SseClient.post(elsewhere, counting(2)).statusCode()).isEqualTo(202);
          assertThat(client.post(SseClient.call("3", "echo", "{\"message\":\"x\"}")).statusCode())
              .isEqualTo(202);
        }
        awaitEcho(first.stream());
        awaitEcho(second.stream());
        second.stream().cut();
        FrameStream resumed = SseClient.open(other.url("/sse"), second.stream().lastEventId());

        redis.command("FLUSHALL");

        for (FrameStream lost : List.of(first.stream(), resumed)) {
          List<String> errors =
              lost.events().stream()
                  .map(Frame.Event::data)
                  .filter(data -> data.contains("\"error\""))
                  .toList();
          assertThat(errors)
              .hasSize(2)
              .allMatch(data -> data.contains("The stream of the request is gone"))
              .anyMatch(data -> data.contains("\"id\":1,"))
              .anyMatch(data -> data.contains("\"id\":2,"));
        }
      }
    }
  }

  private static String counting(int id) {
    return SseClient.call(Integer.toString(id), "countdown", "{\"from\":600}");
  }

  private static void awaitEcho(FrameStream stream) {
    while (!stream.event().data().contains("\"id\":3,")) {
      // The progress of the other calls.
    }
  }

  private static FrameStream countdown(McpClient client) {
    return client.call("countdown", "{\"from\":600},\"_meta\":{\"progressToken\":\"p\"}");
  }

  private static String cut(FrameStream call) {
    while (call.event().data().isEmpty()) {
      // The priming event.
    }
    call.cut();
    return call.lastEventId();
  }

  private static void assertLost(FrameStream call, int id) {
    assertThat(call.events().getLast().data())
        .contains("\"id\":" + id + ",", "\"code\":-32000", "The stream of the request is gone");
  }

  /** Commands go on all the while; only word from other replicas cannot come. */
  @Test
  void shouldNotBeReadyWhileItIsDeaf() throws Exception {
    try (RedisFixture redis = RedisFixture.start();
        Gateway gateway = Gateway.start(redis.gatewaySettings())) {
      await().atMost(Duration.ofSeconds(20)).until(() -> readiness(gateway) == 200);

      redis.command("ACL", "SETUSER", "default", "-subscribe");
      redis.command("CLIENT", "KILL", "TYPE", "pubsub");
      await().atMost(Duration.ofSeconds(10)).until(() -> readiness(gateway) == 503);
      assertThat(gateway.get("/q/health/ready").body())
          .contains("could not reach the store: the subscription receives nothing");

      redis.command("ACL", "SETUSER", "default", "+subscribe");
      await().atMost(Duration.ofSeconds(10)).until(() -> readiness(gateway) == 200);
    }
  }

  /** A client that reaches the replica all the same must not mix two layouts. */
  @Test
  void shouldNotBecomeReadyOnDataOfAnotherLayout() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      redis.command("SET", "holdfast:layout", "0");
      try (Gateway gateway = Gateway.start(redis.gatewaySettings())) {
        HttpResponse<String> refused = McpClient.at(gateway.url()).initialized();

        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
        assertThat(readiness(gateway)).isEqualTo(503);
        assertThat(gateway.output())
            .containsOnlyOnce("Redis holds data of another layout found=0 needed=");
        assertThat(redis.keys()).containsExactly("holdfast:layout");

        redis.command("DEL", "holdfast:layout");
        await().atMost(Duration.ofSeconds(10)).until(() -> readiness(gateway) == 200);
      }
    }
  }

  private static int readiness(Gateway gateway) {
    return gateway.get("/q/health/ready").statusCode();
  }
}
