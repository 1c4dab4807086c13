package dev.holdfast.upstream.http;

import static java.net.http.HttpRequest.BodyPublishers.ofString;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.SseClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Headers of clients at servers over HTTP, and what clients learn when a server refuses them. */
@Timeout(60)
class ForwardedHeadersIT {

  private static final String TRACEPARENT =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  @AutoClose private final RedisFixture redis = RedisFixture.start();
  @AutoClose private final ScriptedServer server = ScriptedServer.playing(this::serve);
  @AutoClose private final LegacyServer legacy = new LegacyServer();
  @AutoClose private final HttpClient http = HttpClient.newHttpClient();

  /** The second resumption of a call answers it. */
  private volatile boolean answersResumed;

  private void serve(ScriptedRequest request, RawConnection wire) throws IOException {
    String tenant = String.valueOf(request.header("x-tenant"));
    if (tenant.startsWith("refused-") || request.body().contains("refuse")) {
      int status = request.body().contains("403") || tenant.endsWith("403") ? 403 : 401;
      wire.answer(status, "text/plain", "secret", "WWW-Authenticate: Bearer realm=\"secret\"");
    } else if (request.method().equals("GET")) {
      if (request.header("last-event-id") == null) {
        wire.beginEvents().stall();
      } else if (answersResumed) {
        wire.beginEvents().chunk("id: e2\ndata: " + result(1, "{}") + "\n\n").endChunks();
      } else {
        wire.beginEvents().stall();
      }
    } else if (request.body().contains("\"initialize\"")) {
      String opened =
          "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\"}}";
      wire.answer(200, "application/json", result(0, opened), "Mcp-Session-Id: up-1");
    } else if (request.body().contains("tools/call")) {
      wire.beginEvents().chunk("id: e1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n").reset();
    } else {
      wire.answer(request.body().contains("\"id\"") ? 500 : 202, "", "");
    }
  }

  private static String result(int id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}".formatted(id, result);
  }

  private static String message(String method) {
    return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{}}".formatted(method);
  }

  private static HttpRequest.Builder request(URI url, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("Authorization", "Bearer client")
            .header("Cookie", "a=b")
            .header("X-Other", "x");
    return headers.length == 0 ? request : request.headers(headers);
  }

  private HttpResponse<String> post(URI url, String body, String... headers) throws Exception {
    return http.send(
        request(url, headers).POST(ofString(body)).build(), HttpResponse.BodyHandlers.ofString());
  }

  private ScriptedRequest received(String method, String... texts) {
    return await()
        .until(
            () ->
                server.requests().stream()
                    .filter(each -> each.method().equals(method))
                    .filter(each -> contains(each, texts))
                    .findFirst(),
            found -> found.isPresent())
        .orElseThrow();
  }

  private static boolean contains(ScriptedRequest request, String... texts) {
    String all = request.body() + request.headers();
    return Stream.of(texts).allMatch(all::contains);
  }

  private static void assertHeaders(ScriptedRequest request, String tenant) {
    assertThat(request.headers())
        .containsEntry("x-tenant", tenant)
        .doesNotContainKeys("traceparent", "authorization", "cookie", "x-other");
  }

  private Map<String, String> settings() {
    Map<String, String> settings = redis.gatewaySettings();
    settings.put("holdfast.cluster.heartbeat", "100ms");
    settings.put("holdfast.cluster.dead-after", "500ms");
    settings.put("holdfast.upstream.url", server.url().toString());
    settings.put("holdfast.upstream.forward-headers", "X-Tenant,traceparent");
    settings.put("holdfast.upstreams.old.url", legacy.url().toString());
    settings.put("holdfast.upstreams.old.transport", "sse");
    settings.put("holdfast.upstreams.old.forward-headers", "x-tenant,traceparent");
    return settings;
  }

  @Test
  void shouldForwardHeadersWithWhatTheyCause() throws Exception {
    List<Gateway> replicas = Gateway.startPair(settings());
    try (Gateway first = replicas.get(0);
        Gateway second = replicas.get(1)) {
      checkRefusals(first.url());
      checkChannel(first, second);
      checkRequests(first, second);
    }
  }

  private void checkRequests(Gateway first, Gateway second) throws Exception {
    String session =
        post(
                first.url(),
                SseClient.initialize("0", "2025-11-25"),
                "X-Tenant",
                "blue",
                "traceparent",
                TRACEPARENT)
            .headers()
            .firstValue("Mcp-Session-Id")
            .orElseThrow();
    assertThat(received("POST", TRACEPARENT).headers())
        .containsEntry("x-tenant", "blue")
        .containsEntry("traceparent", TRACEPARENT)
        .doesNotContainKeys("authorization", "cookie", "x-other");

    // The standalone stream has the headers of initialize, not those of the message after it.
    String initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
    post(first.url(), initialized, "Mcp-Session-Id", session, "X-Tenant", "red");
    assertHeaders(received("POST", "notifications/initialized"), "red");
    assertHeaders(received("GET", "text/event-stream"), "blue");

    // A call has its own headers, also when its stream is resumed.
    CompletableFuture<HttpResponse<String>> call =
        http.sendAsync(
            request(first.url(), "Mcp-Session-Id", session, "X-Tenant", "green")
                .header("traceparent", TRACEPARENT)
                .POST(ofString(message("tools/call")))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(received("POST", "tools/call", "green").headers())
        .containsEntry("x-tenant", "green")
        .containsEntry("traceparent", TRACEPARENT);
    assertThat(received("GET", "last-event-id=e1").headers())
        .containsEntry("x-tenant", "green")
        .containsEntry("traceparent", TRACEPARENT);

    // After a take-over the call has those of initialize, as has the end of the session.
    answersResumed = true;
    int before = server.requests().size();
    first.kill();
    await()
        .untilAsserted(() ->
            assertThat(server.requests().stream().skip(before))
                .anySatisfy(each -> {
                  assertThat(each.header("last-event-id")).isEqualTo("e1");
                  assertHeaders(each, "blue");
                }));
    assertThat(call).failsWithin(Duration.ofSeconds(10));
    http.send(
        request(second.url(), "Mcp-Session-Id", session, "X-Tenant", "red").DELETE().build(),
        HttpResponse.BodyHandlers.ofString());
    assertHeaders(received("DELETE", "mcp-session-id"), "blue");
  }

  /** A session over HTTP with SSE is one connection, which may belong to another replica. */
  private void checkChannel(Gateway first, Gateway second) throws Exception {
    URI owner = first.url("/servers/old/mcp");
    String session =
        post(owner, SseClient.initialize("0", "2024-11-05"), "X-Tenant", "blue")
            .headers()
            .firstValue("Mcp-Session-Id")
            .orElseThrow();
    String note = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}";
    post(owner, note, "Mcp-Session-Id", session, "X-Tenant", "green", "traceparent", TRACEPARENT);
    post(
        second.url("/servers/old/mcp"),
        note.replace("/a", "/b"),
        "Mcp-Session-Id",
        session,
        "X-Tenant",
        "green");
    legacy.awaitPost("notifications/b");
    assertThat(legacy.posts()).hasSize(3).allSatisfy(each -> assertHeaders(each, "blue"));
    assertThat(legacy.gets()).isNotEmpty().allSatisfy(each -> assertHeaders(each, "blue"));

    legacy.whenPosted = (_, wire) -> wire.answer(403, "text/plain", "secret");
    HttpResponse<String> refused = post(owner, note.replace("/a", "/c"), "Mcp-Session-Id", session);
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(refused.body()).contains("check your headers x-tenant").doesNotContain("secret");
    legacy.whenAsked = (_, wire) -> wire.answer(401, "text/plain", "secret");
    HttpResponse<String> closed = post(owner, SseClient.initialize("0", "2024-11-05"));
    assertThat(closed.statusCode()).isEqualTo(502);
    assertThat(closed.body()).contains("401", "operator");
  }

  private void checkRefusals(URI url) throws Exception {
    String initialize = SseClient.initialize("0", "2025-11-25");
    for (int status : List.of(401, 403)) {
      HttpResponse<String> byClient = post(url, initialize, "X-Tenant", "refused-" + status);
      assertThat(byClient.statusCode()).isEqualTo(status);
      assertThat(byClient.body())
          .contains("\"id\":0", "check your headers x-tenant")
          .doesNotContain("secret");
      // With this header, SDKs would begin a login at the gateway.
      assertThat(byClient.headers().map()).doesNotContainKey("www-authenticate");
    }
    String session =
        post(url, initialize, "X-Tenant", "blue")
            .headers()
            .firstValue("Mcp-Session-Id")
            .orElseThrow();
    String[] own = {"Mcp-Session-Id", session, "X-Tenant", "refused-403"};
    assertThat(post(url, message("tools/call"), own).body()).contains("check your headers");
    String[] none = {"Mcp-Session-Id", session};
    HttpResponse<String> unauthorized = post(url, message("refuse"), none);
    assertThat(unauthorized.statusCode()).isEqualTo(502);
    assertThat(unauthorized.body()).contains("no access", "status 401", "only the gateway's");
    HttpResponse<String> forbidden = post(url, message("refuse-403"), none);
    assertThat(forbidden.statusCode()).isEqualTo(403);
    assertThat(forbidden.body()).contains("no access", "status 403", "only the gateway's");

    String large = "x".repeat(ForwardedHeaders.MAX_BYTES);
    HttpResponse<String> tooLarge = post(url, initialize, "X-Tenant", large);
    assertThat(tooLarge.statusCode()).isEqualTo(431);
    assertThat(tooLarge.body()).contains("x-tenant", "4096");
  }
}
