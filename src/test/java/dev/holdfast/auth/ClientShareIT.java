package dev.holdfast.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.HostileClient;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Two principals at one address: the one that uses up its share takes nothing of the other's. The
 * share of sessions is the same on all replicas.
 */
class ClientShareIT {

  private static final AccessKey ALICE = AccessKey.random();
  private static final AccessKey BOB = AccessKey.random();
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
  private static final Pattern EVENT_ID = Pattern.compile("(?m)^id: ?([^_]+)_");
  private static final int STREAMS = 6;
  private static final int REQUESTS = 3;
  private static final int SESSIONS = 8;

  private static Map<String, String> settings(Map<String, String> limits) {
    Map<String, String> settings = new HashMap<>(limits);
    settings.put("holdfast.auth.keys.alice.hash", ALICE.hash());
    settings.put("holdfast.auth.keys.bob.hash", BOB.hash());
    return settings;
  }

  private static void assertRefused(HttpResponse<String> response, String reason) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(429);
    assertThat(response.body()).contains(reason);
    assertThat(response.headers().firstValue("Retry-After")).isPresent();
  }

  @Test
  void shouldLeaveOtherPrincipalsTheirShare() {
    Map<String, String> limits =
        Map.of(
            "holdfast.limits.connections-per-address",
            Integer.toString(STREAMS),
            "holdfast.limits.requests-per-address",
            Integer.toString(REQUESTS),
            "holdfast.limits.sessions-per-address",
            Integer.toString(SESSIONS));
    try (Gateway gateway = Gateway.start(settings(limits))) {
      McpClient alice = McpClient.at(gateway.url(), ALICE);
      McpClient bob = McpClient.at(gateway.url(), BOB);
      takesAllRequests(gateway, alice, bob);
      takesAllSessions(gateway);
    }
    try (Gateway gateway = Gateway.start(settings(limits))) {
      takesAllStreams(gateway, McpClient.at(gateway.url(), BOB));
    }
  }

  private static HttpResponse<String> open(Gateway gateway, AccessKey key) {
    return McpClient.at(gateway.url(), key).initialized();
  }

  /** A request is in progress while the gateway waits for its body. */
  private static void takesAllRequests(Gateway gateway, McpClient alice, McpClient bob) {
    String unfinished =
        """
        POST /mcp HTTP/1.1\r
        Host: localhost\r
        Accept: application/json, text/event-stream\r
        Content-Type: application/json\r
        Authorization: Bearer %s\r
        Mcp-Session-Id: %s\r
        Content-Length: 1000\
        """
            .formatted(ALICE.value(), alice.session());
    List<HostileClient> waiting = new ArrayList<>();
    try {
      for (int i = 0; i < REQUESTS; i++) {
        waiting.add(HostileClient.connect(gateway.url()).send(unfinished + "\r\n\r\n"));
      }
      await().until(() -> alice.post(PING).statusCode() != 200);
      assertRefused(alice.post(PING), "Too many requests at once from this client");
      assertThat(bob.ask(PING)).contains("\"result\"");
    } finally {
      waiting.forEach(HostileClient::close);
    }
    await().until(() -> alice.post(PING).statusCode() == 200);
  }

  private static void takesAllSessions(Gateway gateway) {
    for (int i = 1; i < SESSIONS; i++) {
      assertThat(open(gateway, ALICE).statusCode()).isEqualTo(200);
    }
    assertRefused(open(gateway, ALICE), "Too many sessions");
    assertThat(open(gateway, BOB).statusCode()).isEqualTo(200);
  }

  private static void takesAllStreams(Gateway gateway, McpClient bob) {
    McpClient last = bob;
    for (int i = 0; i < STREAMS; i++) {
      last = McpClient.at(gateway.url(), ALICE);
      assertThat(last.listen().status()).isEqualTo(200);
    }
    // An answer may be a stream, too.
    assertRefused(last.post(PING), "Too many connections from this client");
    assertThat(bob.listen().status()).isEqualTo(200);
  }

  @Test
  void shouldLimitTheRequestsPerSecondOfEachPrincipal() {
    try (Gateway gateway =
        Gateway.start(settings(Map.of("holdfast.limits.requests-per-second", "1")))) {
      assertThat(open(gateway, BOB).statusCode()).isEqualTo(200);
      await()
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(1))
          .untilAsserted(() -> assertRefused(open(gateway, BOB), "Too many requests per second"));

      assertThat(open(gateway, ALICE).statusCode()).isEqualTo(200);
      await().until(() -> open(gateway, BOB).statusCode() == 200);
    }
  }

  /** With many sessions, each smaller than that of another client, one once took its place. */
  @Test
  void shouldLeaveOtherPrincipalsTheirShareOfTheLog() {
    try (Gateway gateway = Gateway.start(settings(Map.of("holdfast.memory.max-bytes", "200K")))) {
      McpClient bob = McpClient.at(gateway.url(), BOB);
      String kept = echo(bob, 50_000);
      List<McpClient> sessions = new ArrayList<>();
      List<String> streams = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        sessions.add(McpClient.at(gateway.url(), ALICE));
        streams.add(echo(sessions.getLast(), 10_000));
      }

      assertThat(replayed(gateway, bob, kept)).startsWith("HTTP/1.1 200").contains("x".repeat(50));
      List<Integer> statuses = new ArrayList<>();
      for (int i = 0; i < sessions.size(); i++) {
        String replayed = replayed(gateway, sessions.get(i), streams.get(i));
        statuses.add(Integer.parseInt(replayed.substring(9, 12)));
      }
      assertThat(statuses).containsOnly(200, 410).contains(200, 410);
    }
  }

  /** Calls a tool, and returns the name of the stream with the result. */
  private static String echo(McpClient client, int size) {
    String call =
        """
        {"jsonrpc":"2.0","id":8,"method":"tools/call","params":\
        {"name":"echo","arguments":{"message":"%s"}}}\
        """
            .formatted("x".repeat(size));
    Matcher id = EVENT_ID.matcher(client.ask(call));
    assertThat(id.find()).isTrue();
    return id.group(1);
  }

  private static String replayed(Gateway gateway, McpClient client, String stream) {
    String head =
        """
        GET /mcp HTTP/1.1\r
        Host: localhost\r
        Connection: close\r
        Accept: text/event-stream\r
        Authorization: Bearer %s\r
        Mcp-Session-Id: %s\r
        Last-Event-ID: %s_0-0\
        """
            .formatted(client.key().value(), client.session(), stream);
    return HostileClient.exchange(gateway.url().getPort(), head, "").text();
  }

  @Test
  void shouldCountTheSessionsOfAPrincipalOnAllReplicas() {
    try (RedisFixture redis = RedisFixture.start()) {
      Map<String, String> settings =
          settings(redis.gatewaySettings("holdfast.limits.sessions-per-address", "2"));
      List<Gateway> replicas = Gateway.startPair(settings);
      try (Gateway first = replicas.getFirst();
          Gateway second = replicas.getLast()) {
        McpClient ended = McpClient.at(first.url(), ALICE);
        assertThat(open(second, ALICE).statusCode()).isEqualTo(200);

        assertRefused(open(first, ALICE), "Too many sessions");
        assertRefused(open(second, ALICE), "Too many sessions");
        assertThat(open(second, BOB).statusCode()).isEqualTo(200);

        assertThat(ended.elsewhere(second.url()).delete().statusCode()).isEqualTo(204);
        assertThat(open(first, ALICE).statusCode()).isEqualTo(200);
      }
    }
  }
}
