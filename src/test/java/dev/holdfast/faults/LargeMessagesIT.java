package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.StdioProgram;
import dev.holdfast.upstream.http.LegacyServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Large results of servers: a screenshot, a document, a long list. */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class LargeMessagesIT {

  private static final int LARGE = 20_000_000;
  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");
  private static final Pattern BYTES = Pattern.compile("\"bytes\":(\\d+)");
  private static final String INITIALIZED =
      "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
          + "\"serverInfo\":{\"name\":\"large\",\"version\":\"1\"}}";

  /** Answers requests with as many bytes as they ask for. */
  private static final String PROGRAM =
      """
      while IFS= read -r line; do
        id=${line#*'"id":'}
        id=${id%%[,\\}]*}
        bytes=${line#*'"bytes":'}
        bytes=${bytes%%[,\\}]*}
        case $line in
          *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":INITIALIZED}\\n' "$id" ;;
          *'"bytes"'*)
            printf '{"jsonrpc":"2.0","id":%s,"result":{"text":"' "$id"
            head -c "$bytes" /dev/zero | tr '\\0' x
            printf '"}}\\n'
            ;;
        esac
      done
      """
          .replace("INITIALIZED", INITIALIZED);

  private final ScriptedServer json =
      ScriptedServer.playing((request, wire) -> answer(request, wire, false));
  private final ScriptedServer sse =
      ScriptedServer.playing((request, wire) -> answer(request, wire, true));
  private final LegacyServer legacy = new LegacyServer();

  @TempDir private Path directory;

  @BeforeEach
  void start() throws IOException {
    Files.writeString(program(), PROGRAM);
    legacy.whenPosted =
        (request, wire) -> {
          wire.answer(202, "", "Accepted");
          if (request.body().contains("\"bytes\"")) {
            legacy.say(result(request.body()));
          }
        };
  }

  @AfterEach
  void stop() {
    json.close();
    sse.close();
    legacy.close();
  }

  @Test
  void shouldArriveWholeOverTheMemoryStore() {
    try (Gateway gateway = Gateway.start(settings(Map.of()))) {
      arrivesWhole(gateway);
    }
  }

  @Test
  void shouldArriveWholeOverRedis() {
    try (RedisFixture redis = RedisFixture.start();
        Gateway gateway =
            Gateway.start(
                // Other tests slow down a Redis that gets 20 MB in one command.
                settings(redis.gatewaySettings("holdfast.redis.timeout", "20s")))) {
      arrivesWhole(gateway);
    }
  }

  private static void arrivesWhole(Gateway gateway) {
    for (String name : List.of("json", "sse", "legacy", "stdio")) {
      McpClient client = client(gateway, name);

      String called = client.post(request(1, "tools/call", LARGE)).body();
      assertThat(called.length()).as("%s: %.200s", name, called).isGreaterThan(LARGE);
      HttpResponse<String> read = client.post(request(2, "resources/read", 5_000_000));
      assertThat(read.statusCode()).as(name).isEqualTo(200);
      assertThat(read.body().length()).as(name).isGreaterThan(5_000_000);
    }
  }

  @Test
  void aboveTheLimitShouldFailTheRequestAlone() throws IOException {
    Map<String, String> limit = Map.of("holdfast.limits.server-message-bytes", "100K");
    try (Gateway gateway = Gateway.start(settings(limit))) {
      for (String name : List.of("json", "sse", "legacy", "stdio")) {
        McpClient client = client(gateway, name);

        String called = client.post(request(1, "tools/call", 200_000)).body();
        isTooLarge(called, 1);
        HttpResponse<String> read = client.post(request(2, "resources/read", 300_000));
        assertThat(read.statusCode()).as(name).isEqualTo(200);
        isTooLarge(read.body(), 2);
        String next = client.post(request(3, "tools/call", 1000)).body();
        assertThat(next).as(name).contains("\"id\":3,\"result\"").hasSizeGreaterThan(1000);

        String line =
            "upstream failed a request upstream=" + name + " reason=.*server-message-bytes";
        await().untilAsserted(() -> assertThat(gateway.output()).containsPattern(line));
      }
      for (String name : List.of("json", "sse", "legacy", "stdio")) {
        assertThat(gateway.get("/q/metrics").body())
            .containsPattern(
                "holdfast_upstream_errors_total\\{kind=\"too_large\",upstream=\""
                    + name
                    + "\"} [23]");
      }
    }
  }

  private static void isTooLarge(String response, int id) {
    assertThat(response)
        .contains(
            "\"id\":" + id + ",\"error\":{\"code\":-32000,\"message\":\"The server executed the",
            " bytes exceeds holdfast.limits.server-message-bytes (102400 bytes)");
  }

  /** As many as would need several times the heap. */
  @Test
  void shouldNotExhaustTheMemory() throws Exception {
    List<Callable<String>> calls = new ArrayList<>();
    try (RedisFixture redis = RedisFixture.start();
        Gateway gateway =
            Gateway.start(
                settings(redis.gatewaySettings()),
                "-Xmx128m",
                "-XX:+ExitOnOutOfMemoryError",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 24; i++) {
        McpClient client = client(gateway, List.of("json", "sse", "stdio").get(i % 3));
        calls.add(() -> {
          String last = client.post(request(1, "tools/call", 8_000_000)).body();
          return last.substring(0, Math.min(last.length(), 500));
        });
      }

      for (Future<String> call : threads.invokeAll(calls)) {
        assertThat(call.get()).containsAnyOf("\"result\":", "exceeds the memory", "at a time");
      }

      assertThat(gateway.isReady()).as(gateway.output()).isTrue();
      await()
          .untilAsserted(() ->
              assertThat(client(gateway, "stdio").post(request(1, "tools/call", 8_000_000)).body())
                  .hasSizeGreaterThan(8_000_000));
    }
  }

  @Test
  void shouldPassTheBridge() {
    List<String> options = List.of("stdio", "--", "sh", program().toString());
    try (StdioProgram bridge =
        new StdioProgram(PackagedProgram.command(options.toArray(String[]::new))).handshake()) {
      bridge.say(request(1, "tools/call", 5_000_000));

      assertThat(bridge.response(1).at("/result/text").asText()).hasSize(5_000_000);
    }
  }

  @Test
  void aboveTheLimitShouldBeAnErrorBehindTheBridge() {
    List<String> command =
        PackagedProgram.command(
            List.of("-Dholdfast.limits.server-message-bytes=100K"),
            List.of("stdio", "--", "sh", program().toString()));
    try (StdioProgram bridge = new StdioProgram(command).handshake()) {
      bridge.say(request(1, "tools/call", 200_000));
      bridge.say(request(2, "tools/call", 10));

      assertThat(bridge.response(1).at("/error/message").asText())
          .startsWith("The server executed the request, but its response of 200")
          .endsWith("exceeds holdfast.limits.server-message-bytes (102400 bytes)");
      assertThat(bridge.response(2).at("/result/text").asText()).hasSize(10);
    }
  }

  private Path program() {
    return directory.resolve("server.sh");
  }

  private Map<String, String> settings(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("holdfast.upstreams.json.url", json.url().toString());
    settings.put("holdfast.upstreams.sse.url", sse.url().toString());
    settings.put("holdfast.upstreams.legacy.url", legacy.url().toString());
    settings.put("holdfast.upstreams.legacy.transport", "sse");
    settings.put("holdfast.upstreams.stdio.command", "sh " + program());
    return settings;
  }

  private static McpClient client(Gateway gateway, String upstream) {
    URI endpoint = gateway.url("/servers/" + upstream + "/mcp");
    return McpClient.at(endpoint).ready();
  }

  private static String request(int id, String method, int bytes) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{\"name\":\"t\",\"arguments\":{\"bytes\":%d}}}"
        .formatted(id, method, bytes);
  }

  private static void answer(ScriptedRequest request, RawConnection wire, boolean stream)
      throws IOException {
    if (!request.method().equals("POST")) {
      wire.answer(405, "", "");
    } else if (request.body().contains("\"bytes\"") && stream) {
      wire.beginEvents().chunk("data: " + result(request.body()) + "\n\n").endChunks();
    } else if (request.body().contains("\"id\"")) {
      wire.answer(200, "application/json", result(request.body()), "Mcp-Session-Id: large");
    } else {
      wire.answer(202, "", "");
    }
  }

  private static String result(String request) {
    Matcher id = ID.matcher(request);
    Matcher bytes = BYTES.matcher(request);
    String result =
        bytes.find()
            ? "{\"text\":\"" + "x".repeat(Integer.parseInt(bytes.group(1))) + "\"}"
            : INITIALIZED;
    return "{\"jsonrpc\":\"2.0\",\"id\":"
        + (id.find() ? id.group(1) : "0")
        + ",\"result\":"
        + result
        + "}";
  }
}
