package dev.holdfast.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.http.LegacyServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that get the tokens of clients: always the newest one, on every replica. */
@Tag("long")
@Timeout(180)
class PassedTokenIT {

  private static final AccessKey KEY = AccessKey.random();
  private static final String PUBLIC_URL = "https://mcp.example.com";
  private static final String OLD = "/servers/old/mcp";
  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");
  private static final String CHALLENGE =
      "Bearer error=\"insufficient_scope\", scope=\"files\", resource_metadata=\"https://a.example\"";
  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

  @AutoClose private final RedisFixture redis = RedisFixture.start();
  @AutoClose private final OpenIdProvider issuer = OpenIdProvider.start();
  @AutoClose private final ScriptedServer server = ScriptedServer.playing(this::serve);
  @AutoClose private final LegacyServer old = new LegacyServer();

  /** The token that the server takes when a call is resumed; null for any. */
  private final AtomicReference<String> resumedBy = new AtomicReference<>("nobody");

  private void serve(ScriptedRequest request, RawConnection wire) throws IOException {
    String body = request.body();
    Matcher id = ID.matcher(body);
    if (request.method().equals("GET") && request.header("last-event-id") != null) {
      if (("Bearer " + resumedBy.get()).equals(request.header("authorization"))) {
        wire.beginEvents().chunk("id: e2\ndata: " + result("7", "{}") + "\n\n").endChunks();
      } else {
        wire.answer(401, "", "", "WWW-Authenticate: " + CHALLENGE);
      }
    } else if (request.method().equals("GET")) {
      wire.beginEvents().stall();
    } else if (body.contains("tools/call")) {
      wire.beginEvents().chunk("id: e1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n").reset();
    } else if (body.contains("refuse/")) {
      int status = body.contains("401") ? 401 : 403;
      String challenge = body.contains("long") ? "Bearer " + "x".repeat(3000) : CHALLENGE;
      wire.answer(status, "text/plain", "secret", "WWW-Authenticate: " + challenge);
    } else if (id.find()) {
      String opened =
          "{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\"}}";
      wire.answer(200, "application/json", result(id.group(1), opened), "Mcp-Session-Id: up-1");
    } else {
      wire.answer(202, "", "");
    }
  }

  private static String result(String id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}".formatted(id, result);
  }

  private static String request(int id, String method) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{\"name\":\"t\"}}"
        .formatted(id, method);
  }

  private Map<String, String> settings() {
    Map<String, String> settings = redis.gatewaySettings();
    settings.put("holdfast.cluster.heartbeat", "100ms");
    settings.put("holdfast.cluster.dead-after", "500ms");
    settings.put("holdfast.auth.keys.alice.hash", KEY.hash());
    settings.put("holdfast.auth.public-url", PUBLIC_URL);
    settings.put("holdfast.auth.issuers.corp.url", issuer.issuer());
    settings.put("holdfast.upstream.url", server.url().toString());
    settings.put("holdfast.upstream.authorization", "pass");
    settings.put("quarkus.log.category.\"dev.holdfast.relay\".level", "DEBUG");
    settings.put("holdfast.upstreams.old.url", old.url().toString());
    settings.put("holdfast.upstreams.old.transport", "sse");
    settings.put("holdfast.upstreams.old.authorization", "pass");
    return settings;
  }

  private AccessKey token(String path) {
    return new AccessKey(issuer.token("alice", PUBLIC_URL + path, "tools"));
  }

  private List<ScriptedRequest> received(String text) {
    return server.requests().stream()
        .filter(each -> (each.method() + each.headers() + each.body()).contains(text))
        .toList();
  }

  private void awaitReceived(String text, AccessKey token) {
    await()
        .untilAsserted(() ->
            assertThat(received(text))
                .anySatisfy(each ->
                    assertThat(each.header("authorization")).isEqualTo("Bearer " + token.value())));
  }

  @Test
  void shouldShowTheNewestTokenOfTheClient() {
    List<Gateway> pair = Gateway.startPair(settings());
    try (Gateway first = pair.getFirst();
        Gateway second = pair.getLast()) {
      refusesKeys(first);
      passesRefusals(first);
      passesOverHttpWithSse(first);
      resumesWithTheNewestToken(first, second);
    }
    assertThat(server.requests())
        .allSatisfy(each -> assertThat(each.header("authorization")).startsWith("Bearer ey"));
  }

  private static void refusesKeys(Gateway gateway) {
    HttpResponse<String> refused = McpClient.at(gateway.url(), KEY).initialized();
    assertThat(refused.statusCode()).isEqualTo(401);
    assertThat(refused.body()).contains("a key is not enough");
    assertThat(refused.headers().firstValue("WWW-Authenticate"))
        .hasValueSatisfying(value -> assertThat(value).contains("resource_metadata="));
  }

  private void passesRefusals(Gateway gateway) {
    McpClient client = McpClient.at(gateway.url(), token("/mcp"));
    for (int status : List.of(401, 403)) {
      HttpResponse<String> refused = client.post(request(2, "refuse/" + status));
      assertThat(refused.statusCode()).isEqualTo(status);
      assertThat(refused.headers().firstValue("WWW-Authenticate")).contains(CHALLENGE);
      assertThat(refused.body()).contains("check your headers authorization");
      assertThat(refused.body()).doesNotContain("secret");
      HttpResponse<String> large = client.post(request(2, "refuse/long/" + status));
      assertThat(large.statusCode()).isEqualTo(status);
      assertThat(large.headers().firstValue("WWW-Authenticate")).isEmpty();
    }
  }

  /** The connection of a session carries messages with each newest token. */
  private void passesOverHttpWithSse(Gateway gateway) {
    AccessKey before = token(OLD);
    AccessKey after = token(OLD);
    McpClient client = McpClient.at(gateway.url().resolve(OLD), before);
    assertThat(client.post(INITIALIZED).statusCode()).isEqualTo(202);
    McpClient later = client.with(after);
    assertThat(later.post(INITIALIZED.replace("initialized", "later")).statusCode()).isEqualTo(202);
    assertThat(old.gets().getFirst().header("authorization")).isEqualTo("Bearer " + before.value());
    assertThat(old.posts())
        .extracting(each -> each.header("authorization"))
        .containsExactly(
            "Bearer " + before.value(), "Bearer " + before.value(), "Bearer " + after.value());
    old.whenAsked = (_, wire) -> wire.answer(401, "", "", "WWW-Authenticate: " + CHALLENGE);
    HttpResponse<String> refused = McpClient.at(gateway.url().resolve(OLD), after).initialized();
    assertThat(refused.statusCode()).isEqualTo(401);
    assertThat(refused.headers().firstValue("WWW-Authenticate")).contains(CHALLENGE);
  }

  private void resumesWithTheNewestToken(Gateway first, Gateway second) {
    AccessKey opening = token("/mcp");
    AccessKey calling = token("/mcp");
    AccessKey renewed = token("/mcp");
    McpClient client = McpClient.at(first.url(), opening);
    assertThat(client.post(INITIALIZED).statusCode()).isEqualTo(202);
    awaitReceived("GET{accept=text/event-stream", opening);
    // The server refuses the token of the call when the gateway connects again.
    resumedBy.set(renewed.value());
    CompletableFuture<String> call =
        CompletableFuture.supplyAsync(() -> client.with(calling).ask(request(7, "tools/call")));
    awaitReceived("last-event-id=e1", calling);
    assertThat(call).isNotDone();
    assertThat(client.with(renewed).post(request(3, "ping")).statusCode()).isEqualTo(200);
    assertThat(call.join()).contains("\"id\":7,\"result\"");
    awaitReceived("last-event-id=e1", renewed);

    continuesOnAnotherReplica(client, first, second);
  }

  /** No token is in Redis. The other replica waits until the client has shown one. */
  private void continuesOnAnotherReplica(McpClient client, Gateway first, Gateway second) {
    AccessKey next = token("/mcp");
    resumedBy.set(next.value());
    int before = received("last-event-id=e1").size();
    FrameStream call = client.stream(request(7, "tools/call"));
    assertThat(call.event().id()).isNotEmpty();
    String last = call.lastEventId();
    await().until(() -> received("last-event-id=e1").size() > before);
    first.kill();
    await().until(() -> second.output().contains("stream taken over stream="));
    McpClient other = client.elsewhere(second.url()).with(next);
    assertThat(other.resume(last).event("\"result\"")).contains("\"id\":7");
    assertThat(other.delete().statusCode()).isEqualTo(204);
    awaitReceived("DELETE", next);
  }
}
