package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.HostileClient;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisMonitor;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.TraceReceiver;
import dev.holdfast.upstream.http.LegacyServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The key or token of a client gets no further than the gateway. Everything that leaves the gateway
 * is searched for it: what servers get over all transports, every command to Redis, all logs with
 * level DEBUG, traces and tapes. Two replicas share the sessions.
 */
@Tag("long")
@Timeout(180)
class CanaryTokenIT {

  private static final AccessKey KEY = AccessKey.random();
  private static final String PUBLIC_URL = "https://mcp.example.com";
  private static final List<String> PATHS =
      List.of("/mcp", "/servers/old/mcp", "/servers/program/mcp");
  private static final String EXCHANGED = "/servers/exchanged/mcp";
  private static final String PASSED = "/servers/passed/mcp";
  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");

  /** Its text must be everywhere that messages go, or the test does not look there. */
  private static final String CALL =
      """
      {"jsonrpc":"2.0","id":7,"method":"tools/call","params":\
      {"name":"t","arguments":{"text":"marker-of-a-call"}}}\
      """;

  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

  /** Writes its environment and what it gets to a file, and answers. */
  private static final String PROGRAM =
      """
      env > "$1.$$"
      while read -r line; do
        printf '%s\\n' "$line" >> "$1.$$"
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p')
        [ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":\
      {"protocolVersion":"2025-03-26","capabilities":{},\
      "serverInfo":{"name":"s","version":"1"}}}\\n' "$id"
      done
      """;

  @TempDir private Path directory;
  @AutoClose private final RedisFixture redis = RedisFixture.start();
  @AutoClose private final RedisMonitor monitor = RedisMonitor.start(redis);
  @AutoClose private final ScriptedServer server = ScriptedServer.playing(CanaryTokenIT::serve);
  @AutoClose private final ScriptedServer passed = ScriptedServer.playing(CanaryTokenIT::serve);
  @AutoClose private final ScriptedServer exchanged = ScriptedServer.playing(CanaryTokenIT::serve);
  @AutoClose private final LegacyServer old = new LegacyServer();
  @AutoClose private final TraceReceiver traces = TraceReceiver.start();
  @AutoClose private final OpenIdProvider issuer = OpenIdProvider.start();

  /** A server that breaks the stream of each call, so that it is resumed. */
  private static void serve(ScriptedRequest request, RawConnection wire) throws IOException {
    if (request.method().equals("GET")) {
      if (request.header("last-event-id") == null) {
        wire.beginEvents().stall();
      } else {
        wire.beginEvents().chunk("id: e2\ndata: " + result("7", "{}") + "\n\n").endChunks();
      }
    } else if (request.body().contains("tools/call")) {
      wire.beginEvents().chunk("id: e1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n").reset();
    } else {
      Matcher id = ID.matcher(request.body());
      String opened =
          "{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\"}}";
      if (id.find()) {
        wire.answer(200, "application/json", result(id.group(1), opened), "Mcp-Session-Id: up-1");
      } else {
        wire.answer(202, "", "");
      }
    }
  }

  private void serveOld(ScriptedRequest request, RawConnection wire) throws IOException {
    wire.answer(202, "", "Accepted");
    if (request.body().contains("tools/call")) {
      old.say(result("7", "{}"));
    }
  }

  private static String result(String id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}".formatted(id, result);
  }

  private Map<String, String> settings(String replica) {
    Path program = directory.resolve("program.sh");
    Map<String, String> settings = redis.gatewaySettings();
    settings.put("holdfast.auth.keys.alice.hash", KEY.hash());
    settings.put("holdfast.auth.public-url", PUBLIC_URL);
    settings.put("holdfast.auth.issuers.corp.url", issuer.issuer());
    settings.put("holdfast.upstream.url", server.url().toString());
    settings.put("holdfast.upstream.forward-headers", "x-tenant");
    settings.put("holdfast.upstreams.old.url", old.url().toString());
    settings.put("holdfast.upstreams.old.transport", "sse");
    settings.put(
        "holdfast.upstreams.program.command", "sh " + program + " " + directory.resolve("got"));
    settings.put("holdfast.upstreams.passed.url", passed.url().toString());
    settings.put("holdfast.upstreams.passed.authorization", "pass");
    String to = "holdfast.upstreams.exchanged.";
    settings.put(to + "url", exchanged.url().toString());
    settings.put(to + "authorization", "exchange");
    settings.put(to + "token.endpoint", issuer.issuer() + "/token");
    settings.put(to + "token.client-id", "gateway");
    settings.put(to + "token.client-secret", "gateway");
    settings.put(to + "token.resource", "https://tools.example.com/mcp");
    settings.put("holdfast.trace.endpoint", traces.url().toString());
    settings.put("holdfast.record.dir", directory.resolve("tapes-" + replica).toString());
    settings.put("holdfast.audit", "true");
    settings.put("quarkus.log.level", "DEBUG");
    settings.put("quarkus.http.access-log.enabled", "true");
    return settings;
  }

  /** The name of an endpoint as a resource is its public URL. */
  private String token(String path) {
    return issuer.token("alice", PUBLIC_URL + path, "tools");
  }

  @Test
  void shouldKeepKeysAndTokensOfClients() throws IOException {
    Files.writeString(directory.resolve("program.sh"), PROGRAM);
    old.whenPosted = this::serveOld;
    Map<String, AccessKey> canaries = new TreeMap<>();
    PATHS.forEach(path -> {
      canaries.put("key at " + path, KEY);
      canaries.put("token at " + path, new AccessKey(token(path)));
    });
    AccessKey forServer = new AccessKey(token(PASSED));
    canaries.put("token at " + PASSED, forServer);
    canaries.put("token at " + EXCHANGED, new AccessKey(token(EXCHANGED)));
    List<Gateway> pair = Gateway.startAll(List.of(settings("a"), settings("b")));
    try (Gateway first = pair.getFirst();
        Gateway second = pair.getLast()) {
      canaries.forEach((name, canary) -> use(first, second, name.replaceAll(".* ", ""), canary));
      misuse(first, canaries);
      stop(first);
      stop(second);
      Map<String, String> witnesses = witnesses();
      witnesses.put("log", first.output() + second.output());
      assertThat(witnesses.get("log")).contains(" DEBUG ", "method=POST path=/mcp status=200");
      exchanged.requests().stream()
          .map(each -> String.valueOf(each.header("authorization")).replaceFirst("Bearer ", ""))
          .forEach(got -> canaries.put("exchanged " + canaries.size(), new AccessKey(got)));
      assertNotSeen(canaries, witnesses);
      canaries.values().removeIf(each -> exchanged.requests().toString().contains(each.value()));
      assertThat(canaries).containsKey("token at " + EXCHANGED);
      assertPassedOn(forServer, canaries);
    }
  }

  /** A session with all that reaches a server. Its calls go through the other replica. */
  private static void use(Gateway first, Gateway second, String path, AccessKey canary) {
    McpClient client = McpClient.at(first.url().resolve(path), canary);
    assertThat(client.post(INITIALIZED).statusCode()).isEqualTo(202);
    McpClient other = client.elsewhere(second.url().resolve(path));
    assertThat(other.ask(CALL)).contains("\"id\":7,\"result\"");
    assertThat(other.listen().status()).isEqualTo(200);
    assertThat(other.delete().statusCode()).isEqualTo(204);
  }

  /** Each at all other endpoints, and after a scheme that is none. */
  private static void misuse(Gateway gateway, Map<String, AccessKey> canaries) {
    for (AccessKey canary : canaries.values()) {
      for (String path : PATHS) {
        assertThat(status(gateway, "DELETE " + path, "Bearer " + canary.value())).isIn(400, 401);
      }
      assertThat(status(gateway, "GET /mcp", "Basic " + canary.value())).isEqualTo(401);
    }
  }

  private static int status(Gateway gateway, String request, String authorization) {
    String head =
        "%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: %s"
            .formatted(request, authorization);
    return HostileClient.exchange(gateway.url().getPort(), head, "").status();
  }

  private static void stop(Gateway gateway) {
    gateway.terminate();
    try {
      assertThat(gateway.awaitEnd(60)).isTrue();
    } catch (InterruptedException stop) {
      throw new IllegalStateException(stop);
    }
  }

  /** What left the gateway, by where it went. */
  private Map<String, String> witnesses() {
    Map<String, String> messages = new TreeMap<>();
    messages.put("server", server.requests().toString());
    messages.put("old server", old.posts() + "" + old.gets());
    messages.put("program", files("got"));
    messages.put("redis", monitor.seen());
    messages.put("tapes", files("tapes-"));
    assertThat(messages)
        .allSatisfy((name, seen) -> assertThat(seen).as(name).contains("marker-of-a-call"));
    assertThat(traces.spans()).isNotEmpty();
    messages.put("traces", traces.raw());
    return messages;
  }

  /** All files whose path begins so. */
  private String files(String prefix) {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> directory.relativize(file).toString().startsWith(prefix))
          .map(CanaryTokenIT::text)
          .collect(Collectors.joining("\n"));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, ISO_8859_1);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The server that gets tokens gets those for it, and as a header only. */
  private void assertPassedOn(AccessKey token, Map<String, AccessKey> canaries) {
    assertThat(passed.requests())
        .hasSizeGreaterThan(4)
        .allSatisfy(each -> {
          assertThat(each.headers()).containsEntry("authorization", "Bearer " + token.value());
          assertThat(each.body()).doesNotContain(token.value());
          canaries.values().stream()
              .filter(canary -> !canary.equals(token))
              .forEach(canary -> assertThat(each.toString()).doesNotContain(canary.value()));
        });
  }

  private static void assertNotSeen(
      Map<String, AccessKey> canaries, Map<String, String> witnesses) {
    SoftAssertions all = new SoftAssertions();
    canaries.forEach((name, canary) -> {
      // The signature of a token alone would do, and so would a form that is easy to decode.
      String end = canary.value().substring(canary.value().lastIndexOf('.') + 1);
      String encoded = Base64.getEncoder().encodeToString(canary.value().getBytes(UTF_8));
      witnesses.forEach((where, seen) ->
          all.assertThat(seen.contains(end) || seen.contains(encoded))
              .as("%s in %s", name, where)
              .isFalse());
    });
    all.assertAll();
  }
}
