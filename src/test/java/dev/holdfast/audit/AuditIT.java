package dev.holdfast.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.auth.AccessKey;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.StatelessClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The events of a running gateway, in a file of their own as {@code docs/audit.md} shows. */
@Timeout(120)
class AuditIT {

  private static final AccessKey ALICE = AccessKey.random();
  private static final AccessKey BOB = AccessKey.random();
  private static final String CALL =
      """
      {"jsonrpc":"2.0","id":3,"method":"tools/call","params":\
      {"name":"%s","arguments":{"message":"private"}}}\
      """;
  private static final String COUNT =
      """
      {"jsonrpc":"2.0","id":4,"method":"tools/call","params":\
      {"name":"countdown","arguments":{"from":60,"intervalMs":1000},\
      "_meta":{"progressToken":1}}}\
      """;

  @TempDir private Path directory;

  private Map<String, String> settings(String file) {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.audit", "true");
    settings.put("quarkus.log.handler.file.audit.enabled", "true");
    settings.put("quarkus.log.handler.file.audit.path", directory.resolve(file).toString());
    settings.put("quarkus.log.handler.file.audit.format", "%s%n");
    settings.put("quarkus.log.category.\"dev.holdfast.audit\".handlers", "audit");
    settings.put("quarkus.log.category.\"dev.holdfast.audit\".use-parent-handlers", "false");
    settings.put("holdfast.auth.keys.alice.hash", ALICE.hash());
    settings.put("holdfast.auth.keys.alice.scopes", "other");
    settings.put("holdfast.auth.keys.bob.hash", BOB.hash());
    settings.put("holdfast.upstream.deny-tools", "primes");
    settings.put("holdfast.upstream.tool-scopes.admin", "echo");
    settings.put("holdfast.upstreams.other.url", "http://127.0.0.1:1/mcp");
    settings.put("holdfast.upstreams.other.scope", "other");
    return settings;
  }

  private List<JsonNode> events(String file) throws IOException {
    List<JsonNode> events = new ArrayList<>();
    for (String line : Files.readAllLines(directory.resolve(file))) {
      events.add(new ObjectMapper().readTree(line));
    }
    return events;
  }

  private void awaitEvent(String file, String... members) {
    await()
        .untilAsserted(() ->
            assertThat(Files.readAllLines(directory.resolve(file)))
                .anySatisfy(line -> assertThat(line).contains(members)));
  }

  @Test
  void shouldTellWhoDidWhat() throws Exception {
    try (Gateway gateway = Gateway.start(settings("audit"))) {
      McpClient alice = McpClient.at(gateway.url(), ALICE);
      String session = "\"session\":\"" + alice.session().substring(0, 6) + "…\"";
      awaitEvent(
          "audit",
          "session-opened",
          "\"principal\":\"key alice\"",
          "\"client\":\"test/1\"",
          "\"address\":\"127.0.0.1\"",
          "\"upstream\":\"default\"",
          session);
      alice.ask(CALL.formatted("primes"));
      awaitEvent(
          "audit",
          "tool-denied",
          "key alice",
          "\"tool\":\"primes\"",
          "the tool is hidden",
          session);
      // The first one may be left out, since it comes soon after the other.
      await()
          .pollInterval(Duration.ofMillis(200))
          .untilAsserted(() -> {
            alice.ask(CALL.formatted("echo"));
            assertThat(Files.readAllLines(directory.resolve("audit")))
                .anySatisfy(line ->
                    assertThat(line)
                        .contains("\"tool\":\"echo\"", "the scope is missing: admin", session));
          });

      alice.with(BOB).ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
      awaitEvent("audit", "session-denied", "\"principal\":\"key bob\"", session);
      McpClient.at(gateway.url().resolve("/servers/other/mcp"), BOB).initialized();
      awaitEvent(
          "audit",
          "upstream-denied",
          "key bob",
          "\"upstream\":\"other\"",
          "the scope other is missing");
      McpClient.at(gateway.url().resolve("/servers/other/mcp"), ALICE).initialized();
      awaitEvent(
          "audit", "session-refused", "key alice", "\"client\":\"test/1\"", "the upstream failed");
      AccessKey stranger = AccessKey.random();
      McpClient.at(gateway.url(), stranger).initialized();
      awaitEvent("audit", "credential-refused", "127.0.0.1", "the credential is not valid");
      await()
          .pollInterval(Duration.ofMillis(200))
          .untilAsserted(() -> {
            withoutKey(gateway.url());
            assertThat(Files.readString(directory.resolve("audit")))
                .contains("there is no credential");
          });

      alice.delete();
      awaitEvent("audit", "session-ended", "key alice", "ended by its client", session);
      assertThat(Files.readString(directory.resolve("audit")))
          .doesNotContain(
              alice.session(), ALICE.value(), BOB.value(), stranger.value(), "private", "hf_");
      assertThat(gateway.output()).doesNotContain("\"event\":");
    }
    assertThat(events("audit")).allMatch(event -> event.has("time") && event.has("event"));
  }

  private static void withoutKey(URI gateway) throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      http.send(
          HttpRequest.newBuilder(gateway).DELETE().build(), HttpResponse.BodyHandlers.discarding());
    }
  }

  @Test
  void shouldTellThatAnotherReplicaContinuesASession() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      Map<String, String> first = settings("first");
      first.putAll(redis.gatewaySettings());
      Map<String, String> second = new HashMap<>(first);
      second.put("quarkus.log.handler.file.audit.path", directory.resolve("second").toString());
      List<Gateway> pair = Gateway.startAll(List.of(first, second));
      try (Gateway lost = pair.getFirst();
          Gateway other = pair.getLast()) {
        McpClient alice = McpClient.at(lost.url(), ALICE);
        Thread call = Thread.startVirtualThread(() -> ask(alice));
        await().until(() -> redis.keys().stream().anyMatch(key -> key.contains(":e:")));
        lost.kill();

        awaitEvent(
            "second",
            "session-resumed",
            "key alice",
            alice.session().substring(0, 6),
            "its replica was lost");
        assertThat(other.isReady()).isTrue();
        call.join();
      }
    }
  }

  private static void ask(McpClient client) {
    try {
      client.ask(COUNT);
    } catch (AssertionError lost) {
      assertThat(lost).isNotNull();
    }
  }

  @Test
  void shouldTellWhatBecameOfEachCall() throws Exception {
    Map<String, String> settings = new HashMap<>();
    settings("audit")
        .forEach((key, value) -> {
          if (key.startsWith("holdfast.audit") || key.startsWith("quarkus.")) {
            settings.put(key, value);
          }
        });
    settings.put("holdfast.audit-calls", "true");
    settings.put("holdfast.calls.hold-after", "1s");
    try (Gateway gateway = Gateway.start(settings)) {
      McpClient client = McpClient.at(gateway.url()).ready();
      String session = client.session().substring(0, 6) + "…";

      assertThat(client.call("countdown", "{\"from\":1,\"intervalMs\":10}").events()).isNotEmpty();
      assertThat(lastEvents("audit", session, 2))
          .extracting(line -> line.path("event").asText() + " " + line.path("outcome").asText())
          .containsExactly("call ", "call-answered result");

      FrameStream cut = client.call("countdown", "{\"from\":3,\"intervalMs\":300}");
      assertThat(cut.next()).isNotNull();
      cut.cut();
      awaitEvent("audit", "call-left", "the client is gone", session);
      assertThat(client.resume(cut.lastEventId()).events()).isNotEmpty();
      List<JsonNode> lines = lastEvents("audit", session, 4);
      assertThat(lines)
          .extracting(line -> line.path("event").asText())
          .containsExactly("call", "call-left", "call-resumed", "call-answered");
      assertThat(lines.subList(1, 4))
          .extracting(line -> line.path("stream").asText())
          .containsOnly(cut.lastEventId().substring(0, cut.lastEventId().indexOf('_')));
      assertThat(lines.getFirst().path("tool").asText()).isEqualTo("countdown");

      assertThat(client.call("countdown", "{\"from\":30,\"intervalMs\":200}").events())
          .isNotEmpty();
      assertThat(lastEvents("audit", session, 1).getFirst().path("outcome").asText())
          .isEqualTo("handle");

      StatelessClient other = StatelessClient.at(gateway.url());
      assertThat(other.call("countdown", "{\"from\":1,\"intervalMs\":10}").events()).isNotEmpty();
      awaitEvent("audit", "call-answered", "\"upstream\":\"default\",\"request\"", "result");
    }
  }

  /** Waits for the last line of calls of a session, which comes after the end of its response. */
  private List<JsonNode> lastEvents(String file, String session, int count) throws IOException {
    await()
        .until(() -> {
          List<JsonNode> calls = calls(file, session);
          return calls.size() >= count
              && calls.getLast().path("event").asText().equals("call-answered");
        });
    List<JsonNode> calls = calls(file, session);
    return calls.subList(calls.size() - count, calls.size());
  }

  private List<JsonNode> calls(String file, String session) throws IOException {
    return events(file).stream()
        .filter(line -> line.path("event").asText().startsWith("call"))
        .filter(line -> line.path("session").asText().equals(session))
        .toList();
  }

  @Test
  void shouldBeOffByDefault() {
    Map<String, String> settings = settings("audit");
    settings.remove("holdfast.audit");
    try (Gateway gateway = Gateway.start(settings)) {
      McpClient.at(gateway.url(), ALICE).delete();
      McpClient.at(gateway.url(), AccessKey.random()).initialized();

      assertThat(directory.resolve("audit")).isEmptyFile();
      assertThat(gateway.output()).doesNotContain("\"event\":");
    }
  }
}
