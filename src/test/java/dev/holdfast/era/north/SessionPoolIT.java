package dev.holdfast.era.north;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions of a server in which requests without a session run. */
@Timeout(120)
class SessionPoolIT {

  private static final int PRINCIPALS = 50;
  private static final int CALLS = 20;

  private static Map<String, String> settings(SessionServer server) {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.upstream.url", server.url().toString());
    return settings;
  }

  private static Map<String, String> oneConnection(SessionServer server) {
    Map<String, String> settings = settings(server);
    settings.put("holdfast.limits.connections", "1");
    return settings;
  }

  private static String params(String name) {
    return StatelessClient.params("say", "{\"who\":\"%s\"}".formatted(name));
  }

  /** The names that were said in each session. */
  private static Map<String, Set<String>> namesBySession(SessionServer server) {
    Map<String, Set<String>> names = new HashMap<>();
    for (ScriptedRequest call : server.requests("tools/call")) {
      names
          .computeIfAbsent(String.valueOf(call.header("mcp-session-id")), _ -> new HashSet<>())
          .add(StatelessClient.json(call.body()).at("/params/arguments/who").asText());
    }
    return names;
  }

  @Test
  void shouldNeverShareASessionBetweenPrincipals() {
    try (SessionServer server = new SessionServer()) {
      Map<String, String> settings = settings(server);
      List<AccessKey> keys =
          IntStream.range(0, PRINCIPALS).mapToObj(_ -> AccessKey.random()).toList();
      for (int i = 0; i < PRINCIPALS; i++) {
        settings.put("holdfast.auth.keys.p" + i + ".hash", keys.get(i).hash());
      }
      try (Gateway gateway = Gateway.start(settings)) {
        StatelessClient client = StatelessClient.at(gateway.url());
        IntStream.range(0, PRINCIPALS * CALLS)
            .parallel()
            .forEach(i -> {
              int who = i % PRINCIPALS;
              var response =
                  client
                      .with("Authorization", "Bearer " + keys.get(who).value())
                      .post("tools/call", params("p" + who));
              assertThat(response.body()).contains("resultType");
            });
      }

      Map<String, Set<String>> names = namesBySession(server);
      assertThat(names).hasSize(PRINCIPALS);
      assertThat(names.values()).allMatch(each -> each.size() == 1);
    }
  }

  @Test
  void shouldGiveEachCallOfANamelessCallerItsOwnSessionAndEndIt() {
    try (SessionServer server = new SessionServer();
        Gateway gateway = Gateway.start(settings(server))) {
      StatelessClient client = StatelessClient.at(gateway.url());
      IntStream.range(0, CALLS)
          .parallel()
          .forEach(i -> {
            var response = client.post("tools/call", params("p" + i));
            assertThat(response.body()).contains("resultType");
          });

      assertThat(namesBySession(server)).hasSize(CALLS);
      await().untilAsserted(() -> assertThat(server.ended()).isEqualTo(CALLS));
    }
  }

  @Test
  void shouldShareSessionsOfNamelessCallersIfConfigured() {
    try (SessionServer server = new SessionServer()) {
      Map<String, String> settings = settings(server);
      settings.put("holdfast.eras.share-anonymous-sessions", "true");
      try (Gateway gateway = Gateway.start(settings)) {
        StatelessClient client = StatelessClient.at(gateway.url());
        IntStream.range(0, CALLS)
            .parallel()
            .forEach(i -> {
              var response = client.post("tools/call", params("p" + i));
              assertThat(response.body()).contains("resultType");
            });
      }

      assertThat(namesBySession(server)).hasSize(1);
    }
  }

  @Test
  void shouldCancelACallWhoseClientLeaves() {
    try (SessionServer server = new SessionServer();
        Gateway gateway = Gateway.start(settings(server))) {
      FrameStream call = StatelessClient.at(gateway.url()).call("hang", "{}");
      call.event();
      assertThat(server.requests("notifications/cancelled")).isEmpty();

      call.cut();

      await().untilAsserted(() -> assertThat(server.ended()).isOne());
      String called =
          StatelessClient.json(server.requests("tools/call").getFirst().body()).path("id").asText();
      assertThat(server.requests("notifications/cancelled"))
          .singleElement()
          .matches(request ->
              StatelessClient.json(request.body()).at("/params/requestId").asText().equals(called));
    }
  }

  /** The server has not begun to answer, so no head was sent, either. */
  @Test
  void shouldCancelACallWhoseClientLeavesBeforeTheHead() throws IOException {
    try (SessionServer server = new SessionServer();
        Gateway gateway = Gateway.start(oneConnection(server))) {
      StatelessClient client = StatelessClient.at(gateway.url());
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.url().getPort())) {
        socket
            .getOutputStream()
            .write(client.raw("tools/call", StatelessClient.params("mute", "{}")));
        await().until(() -> !server.requests("\"mute\"").isEmpty());
      }

      await().untilAsserted(() -> assertThat(server.ended()).isOne());
      assertThat(server.requests("notifications/cancelled")).hasSize(1);
      // The only connection is free again.
      assertThat(client.post("tools/call", params("ada")).body()).contains("resultType");
    }
  }

  @Test
  void shouldLeaveNothingInRedis() {
    try (SessionServer server = new SessionServer();
        RedisFixture redis = RedisFixture.start()) {
      Map<String, String> settings = settings(server);
      settings.putAll(redis.gatewaySettings());
      settings.put("holdfast.session.idle-timeout", "2s");
      settings.put("holdfast.cleanup-interval", "1s");
      settings.put("holdfast.eras.share-anonymous-sessions", "true");
      try (Gateway gateway = Gateway.start(settings)) {
        Set<String> before = Set.copyOf(redis.keys());
        StatelessClient client = StatelessClient.at(gateway.url());
        IntStream.range(0, 1_000)
            .parallel()
            .forEach(i -> {
              var response = client.post("tools/call", params("p" + i));
              assertThat(response.body()).contains("resultType");
            });
        assertThat(redis.keys()).hasSizeGreaterThan(before.size());

        await()
            .atMost(Duration.ofMinutes(1))
            .untilAsserted(() ->
                assertThat(redis.keys())
                    .allMatch(key -> !key.contains("{") || before.contains(key)));
      }
    }
  }
}
