package dev.holdfast.era.south;

import static dev.holdfast.era.south.StatelessServer.member;
import static dev.holdfast.era.south.StatelessServer.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client with a session at two replicas, in front of a server without sessions. */
class TranslatedSessionIT {

  private static Gateway replica(RedisFixture redis, StatelessServer server) {
    return Gateway.start(
        redis.gatewaySettings(
            "holdfast.cluster.heartbeat",
            "500ms",
            "holdfast.cluster.dead-after",
            "1500ms",
            "holdfast.upstream.url",
            server.http.url().toString()));
  }

  @Test
  void shouldTranslateOnAllReplicas() {
    try (RedisFixture redis = RedisFixture.start();
        StatelessServer server = new StatelessServer();
        Gateway one = replica(redis, server);
        Gateway two = replica(redis, server)) {
      tellsOfResources(server);
      McpClient first = McpClient.at(one.url()).ready();
      McpClient second = first.elsewhere(two.url());

      answersQuestionElsewhere(server, first, second);
      subscribesElsewhere(server, second);
      cancelsElsewhere(server, first, second);
    }
  }

  private static void answersQuestionElsewhere(
      StatelessServer server, McpClient first, McpClient second) {
    asksOnce(server);
    assertThat(second.post(request("logging/setLevel", "\"level\":\"error\"")).body())
        .contains("\"result\":{}");

    try (FrameStream call = first.call("t", "{}")) {
      String asked = call.event().data();
      assertThat(second.post(response(asked, "{\"action\":\"accept\"}")).statusCode())
          .isEqualTo(202);
      assertThat(call.event().data()).contains("\"result\":{\"content\":[]}");
    }
    assertThat(server.requests("tools/call").getLast())
        .contains("\"inputResponses\":{\"a\":{\"action\":\"accept\"}}", "logLevel\":\"error\"");
  }

  private static void asksOnce(StatelessServer server) {
    server.when(
        "tools/call",
        (request, wire) ->
            wire.answer(
                200,
                "application/json",
                response(
                    request,
                    request.contains("inputResponses")
                        ? "{\"content\":[]}"
                        : "{\"resultType\":\"input_required\",\"inputRequests\":"
                            + "{\"a\":{\"method\":\"elicitation/create\",\"params\":{}}}}")));
  }

  /** The answer may come before the other replica knows of the loss, or after. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldGoOnWithCallsOfKilledReplica(boolean answersAtOnce) {
    try (RedisFixture redis = RedisFixture.start();
        StatelessServer server = new StatelessServer();
        Gateway one = replica(redis, server);
        Gateway two = replica(redis, server)) {
      asksOnce(server);
      McpClient first = McpClient.at(one.url()).ready();
      McpClient second = first.elsewhere(two.url());
      FrameStream call = first.call("t", "{}");
      String asked = call.event().data();

      one.kill();
      if (!answersAtOnce) {
        await().until(() -> two.output().contains("stream taken over"));
      }
      assertThat(second.post(response(asked, "{\"action\":\"accept\"}")).statusCode())
          .isEqualTo(202);

      try (FrameStream rest = second.resume(call.lastEventId())) {
        assertThat(rest.event().data()).contains("\"result\":{\"content\":[]}");
      }
      assertThat(two.output()).contains("resumed=true").doesNotContain("resumed=false");
      assertThat(server.requests("tools/call"))
          .hasSize(2)
          .last()
          .asString()
          .contains("\"inputResponses\":{\"a\":{\"action\":\"accept\"}}");
    }
  }

  @Test
  void shouldGoOnWithTasksOfKilledReplica() {
    try (RedisFixture redis = RedisFixture.start();
        StatelessServer server = new StatelessServer();
        Gateway one = replica(redis, server);
        Gateway two = replica(redis, server)) {
      String task = "{\"resultType\":\"task\",\"taskId\":\"t\",\"status\":\"working\"}";
      server.result("tools/call", task);
      server.result("tasks/get", task.replace("\"resultType\":\"task\",", ""));
      McpClient first = McpClient.at(one.url()).ready();
      McpClient second = first.elsewhere(two.url());
      FrameStream call = first.call("t", "{}");
      await().until(() -> !server.requests("tasks/get").isEmpty());

      one.kill();
      await().until(() -> two.output().contains("resumed=true"));
      server.result("tasks/get", "{\"status\":\"completed\",\"result\":{\"content\":[]}}");

      try (FrameStream rest = second.resume(call.lastEventId())) {
        assertThat(rest.event().data())
            .contains("\"id\":" + first.lastId(), "\"result\":{\"content\":[]}");
      }
      assertThat(server.requests("tools/call")).hasSize(1);
    }
  }

  private static void tellsOfResources(StatelessServer server) {
    server.when(
        "subscriptions/listen",
        (request, wire) -> {
          String resources = member(request, "params", "notifications", "resourceSubscriptions");
          wire.beginEvents()
              .chunk(
                  "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
                      + "\"params\":{\"notifications\":{\"resourceSubscriptions\":"
                      + resources
                      + "}}}\n\n");
          if (!resources.equals("[]")) {
            wire.chunk(
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
                    + "\"params\":{\"uri\":\"x:1\"}}\n\n");
          }
          wire.stall();
        });
  }

  /** The other replica has the standalone stream. */
  private static void subscribesElsewhere(StatelessServer server, McpClient second) {
    await().until(() -> !server.requests("subscriptions/listen").isEmpty());

    try (FrameStream stream = second.listen()) {
      assertThat(second.post(request("resources/subscribe", "\"uri\":\"x:1\"")).body())
          .contains("\"result\":{}");
      assertThat(stream.event().data()).contains("x:1");
    }
  }

  private static void cancelsElsewhere(StatelessServer server, McpClient first, McpClient second) {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    server.when(
        "tools/call",
        (_, wire) -> {
          begun.countDown();
          wire.beginEvents().stall();
          left.countDown();
        });
    try (FrameStream _ = first.call("t", "{}")) {
      await().until(() -> begun.getCount() == 0);
      second.post(
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}"
              .formatted(first.lastId()));
      await().until(() -> left.getCount() == 0);
    }
  }

  private static String request(String method, String params) {
    return "{\"jsonrpc\":\"2.0\",\"id\":99,\"method\":\"%s\",\"params\":{%s}}"
        .formatted(method, params);
  }
}
