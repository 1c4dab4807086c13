package dev.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.auth.AccessKey;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.ScriptedServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the log and the health of a packaged program say about faults that are really there. */
class LogEventsIT {

  private static final int AWAY = Ports.free();
  private static final String COUNTDOWN =
      """
      {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"countdown",\
      "arguments":{"from":%d,"intervalMs":%d},"_meta":{"progressToken":1}}}\
      """;

  private static ScriptedServer refusing;
  private static ScriptedServer torn;
  private static ScriptedServer elsewhere;
  private static ScriptedServer page;
  private static Gateway gateway;

  @BeforeAll
  static void start() {
    refusing = ScriptedServer.playing((_, wire) -> wire.answer(401, "text/plain", "no"));
    torn = ScriptedServer.playing((_, wire) -> wire.close());
    elsewhere = ScriptedServer.playing((_, wire) -> wire.answer(404, "text/html", "not here"));
    page = ScriptedServer.playing((_, wire) -> wire.answer(200, "text/html", "<html>"));
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.upstreams.elsewhere.url", elsewhere.url().toString());
    settings.put("holdfast.upstreams.page.url", page.url().toString());
    settings.put("holdfast.upstreams.away.url", "http://127.0.0.1:" + AWAY + "/mcp");
    settings.put("holdfast.upstreams.refusing.url", refusing.url().toString());
    settings.put("holdfast.upstreams.torn.url", torn.url().toString());
    settings.put("holdfast.upstreams.crashing.command", "sh -c 'echo no licence >&2; exit 3'");
    settings.put(
        "holdfast.upstreams.chatty.command",
        "sh -c 'echo hello; echo loud >&2; read request; exit 3'");
    settings.put("holdfast.upstreams.missing.command", "nosuchprogram");
    settings.put("holdfast.upstreams.silent.command", "sleep 1000");
    settings.put("holdfast.upstreams.silent.first-byte-timeout", "100ms");
    settings.put("holdfast.merge.enabled", "false");
    gateway = Gateway.start(settings);
  }

  @AfterAll
  static void stop() {
    gateway.close();
    refusing.close();
    torn.close();
    elsewhere.close();
    page.close();
  }

  @Test
  void shouldFollowAnUpstreamThatIsDown() throws Exception {
    awaitLine("upstream is down upstream=away reason=no connection to 127.0.0.1:" + AWAY);
    assertThat(gateway.get("/q/health/ready").statusCode()).isEqualTo(200);
    HttpResponse<String> health = gateway.get("/q/health/group/upstreams");
    assertThat(health.statusCode()).isEqualTo(503);
    assertThat(new ObjectMapper().readTree(health.body()).at("/checks/0/data/away").asText())
        .startsWith("no connection to");

    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), AWAY), 0);
    server.start();
    try {
      awaitLine("upstream is back upstream=away down-seconds=");
    } finally {
      server.stop(0);
    }
    assertThat(gateway.get("/q/health/group/upstreams").body()).contains("\"away\": \"up\"");
  }

  /** A request whose outcome is unknown may not be repeated; this one may. */
  @Test
  void shouldTellClientsThatNoSessionWasOpened() {
    McpClient ended = McpClient.at(gateway.url("/servers/crashing/mcp"));
    McpClient noMcp = McpClient.at(gateway.url("/servers/page/mcp"));

    assertThat(ended.initialized().body())
        .contains("opened no session, and executed nothing")
        .doesNotContain("no licence");
    assertThat(noMcp.initialized().body())
        .contains("opened no session, and executed nothing", "status 200", "text/html");
    assertThat(noMcp.initialized().statusCode()).isEqualTo(502);
  }

  @Test
  void shouldNameTheVersionOfAClientThatIsRefused() throws Exception {
    HttpRequest newer =
        HttpRequest.newBuilder(gateway.url())
            .header("MCP-Protocol-Version", "2099-01-01")
            .header("Accept", "text/event-stream")
            .build();

    assertThat(send(newer).statusCode()).isEqualTo(400);

    awaitLine("client of another protocol version refused version=2099-01-01");
  }

  @Test
  void shouldNameWhatAnUpstreamDoesWrong() {
    for (String name :
        List.of(
            "refusing", "torn", "crashing", "chatty", "missing", "silent", "elsewhere", "page")) {
      McpClient client = McpClient.at(gateway.url("/servers/" + name + "/mcp"));
      assertThat(client.initialized().statusCode()).as(name).isGreaterThanOrEqualTo(400);
    }

    awaitLine("upstream is down upstream=refusing reason=the upstream refused with status 401");
    awaitLine("upstream failed a request upstream=torn reason=");
    awaitLine("upstream=elsewhere reason=the upstream refused with status 404: check the path");
    awaitLine("upstream=page reason=the upstream's answer broke: status 200 with content of type");
    awaitLine("upstream failed a request upstream=silent reason=the upstream was too slow");
    awaitLine("process started upstream=crashing pid=");
    awaitLine("exit=3 stderr=no licence");
    awaitLine("stderr of process upstream=chatty pid=");
    awaitLine("stdout line ignored, not JSON-RPC upstream=chatty pid=");
    awaitLine("process cannot start upstream=missing reason=");
    awaitLine("process ended upstream=silent pid=");
    assertThat(gateway.output()).contains("process exited by itself upstream=crashing");
  }

  /** A client must not be able to forge a line of the log. */
  @Test
  void shouldWriteOneLineWhateverAClientCallsItself() {
    String forged = "evil\\nFORGED session opened session=x\\r\\u2028FORGED";

    assertThat(McpClient.at(gateway.url(), "2025-11-25", forged).initialized().statusCode())
        .isEqualTo(200);

    awaitLine("client=evil\\u000aFORGED session opened session=x\\u000d\\u2028FORGED");
    assertThat(gateway.output().lines()).noneMatch(line -> line.startsWith("FORGED"));
  }

  @Test
  void shouldFollowASession() {
    McpClient client = McpClient.at(gateway.url());
    String session = client.session().substring(0, 6) + "…";
    awaitLine("session opened session=" + session + " upstream=default client=test");

    String event;
    try (FrameStream call = client.stream(COUNTDOWN.formatted(2, 10))) {
      event = call.event().id();
    }
    try (FrameStream rest = client.resume(event)) {
      assertThat(rest.rest()).isNotEmpty();
    }
    awaitLine("stream resumed stream=" + session + "/" + event.substring(0, event.indexOf('_')));
    assertThat(client.resumeWhole(event.replaceFirst("_.*", "_1-1")).statusCode()).isEqualTo(410);
    awaitLine("client told that events are gone stream=" + session);

    assertThat(client.delete().statusCode()).isEqualTo(204);
    awaitLine("session ended session=" + session + " upstream=default cause=ended by its client");
    assertThat(gateway.output()).doesNotContain(client.session());
  }

  @Test
  void shouldSayThatAnIssuerIsAway() throws Exception {
    String resource = "http://localhost:8080";
    OpenIdProvider issuer = OpenIdProvider.start();
    String token = issuer.token("alice", resource + "/mcp", "tools");
    issuer.close();
    try (Gateway other =
        Gateway.start(
            Map.of(
                "holdfast.auth.public-url",
                resource,
                "holdfast.auth.issuers.away.url",
                issuer.issuer()))) {
      McpClient client = McpClient.at(other.url(), new AccessKey(token));
      assertThat(client.initialized().statusCode()).isEqualTo(503);

      await()
          .untilAsserted(
              () -> assertThat(other.output()).contains("tokens cannot be checked reason="));
      HttpResponse<String> health = other.get("/q/health/well");
      assertThat(health.statusCode()).isEqualTo(503);
      assertThat(new ObjectMapper().readTree(health.body()).findValue(issuer.issuer()).asText())
          .isNotEqualTo("up");
    }
  }

  @Test
  void shouldSayWhyAStoppingReplicaIsNotReadyAndLogAsConfigured() throws Exception {
    try (Gateway other =
        Gateway.start(
            Map.of(
                "quarkus.log.console.json.enabled", "true",
                "quarkus.http.access-log.enabled", "true"))) {
      McpClient client = McpClient.at(other.url());
      var _ = other.get("/messages?session=" + client.session());
      await().until(() -> other.output().contains("path=/messages status="));
      assertThat(other.output()).doesNotContain(client.session());
      assertThat(other.output().lines().filter(line -> line.contains("client=127.0.0.1")))
          .allMatch(line -> line.startsWith("{") && line.contains("\"message\":\"client="));

      try (FrameStream call = client.stream(COUNTDOWN.formatted(60, 100))) {
        var _ = call.event();
        other.terminate();
        await()
            .untilAsserted(() ->
                assertThat(other.get("/q/health/ready").body())
                    .containsPattern("\"Graceful Shutdown\",\\s*\"status\": \"DOWN\""));
      }
    }
  }

  private static void awaitLine(String part) {
    await().untilAsserted(() -> assertThat(gateway.output()).contains(part));
  }

  private static HttpResponse<String> send(HttpRequest request)
      throws IOException, InterruptedException {
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }
}
