package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ProcessResult;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.ServerProcess;
import dev.holdfast.testing.SseClient;
import dev.holdfast.testing.StdioProgram;
import java.io.IOException;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the commands of the packaged program beside a gateway on the same Redis. */
@Timeout(120)
class CommandsIT {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The response of a server that assigns no session id. */
  private static final String INITIALIZED =
      """
      {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},\
      "serverInfo":{"name":"team","version":"1"}}}\
      """;

  private static RedisFixture redis;
  private static ScriptedServer team;
  private static Gateway gateway;

  @BeforeAll
  static void start() {
    redis = RedisFixture.start();
    team = ScriptedServer.playing((_, wire) -> wire.answer(200, "application/json", INITIALIZED));
    gateway =
        Gateway.start(redis.gatewaySettings("holdfast.upstreams.team.url", team.url().toString()));
  }

  @AfterAll
  static void stop() {
    gateway.close();
    team.close();
    redis.close();
  }

  /** Before, the command kept all of a tape. */
  @Test
  void shouldShowATapeThatIsLargerThanTheHeap(@TempDir Path directory) throws IOException {
    Path tape = directory.resolve("large.jsonl");
    String text = "x".repeat(1_000_000);
    try (Writer out = Files.newBufferedWriter(tape)) {
      out.write(
          """
          {"tape":1,"time":"2026-01-01T00:00:00Z","upstream":"web","part":1}
          """);
      for (int n = 1; n <= 150; n++) {
        out.write(
            """
            {"time":"2026-01-01T00:00:00Z","from":"server","stream":"g","position":%d,\
            "message":{"jsonrpc":"2.0","method":"news","params":{"text":"%s"}}}
            """
                .formatted(n, text));
      }
    }

    ProcessResult shown =
        PackagedProgram.run(
            directory,
            Map.of(),
            PackagedProgram.command(
                PackagedProgram.shortLived("-Xmx80m"), List.of("show", tape.toString())));

    assertThat(shown.exitCode()).as(shown.stderr()).isZero();
    assertThat(shown.stdout().lines()).hasSize(150);
  }

  private static McpClient client() {
    return McpClient.at(gateway.url()).ready();
  }

  /** Calls a tool that sends a progress notification per count, and then a result. */
  private static FrameStream countdown(McpClient client, int from, int intervalMillis) {
    return client.stream(
        """
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"countdown",\
        "arguments":{"from":%d,"intervalMs":%d},"_meta":{"progressToken":"count"}}}\
        """
            .formatted(from, intervalMillis));
  }

  private static List<JsonNode> json(ProcessResult result) {
    return result.stdout().lines().map(CommandsIT::parse).toList();
  }

  private static JsonNode parse(String line) {
    try {
      return JSON.readTree(line);
    } catch (JsonProcessingException invalid) {
      throw new AssertionError(line, invalid);
    }
  }

  @Test
  void shouldPrintHelpAndUsageErrors() {
    ProcessResult help = PackagedProgram.run("--help");
    ProcessResult error = PackagedProgram.run("frobnicate");

    assertThat(help.exitCode()).as(help.toString()).isZero();
    assertThat(help.stdout()).contains("Usage: holdfast");
    assertThat(help.stderr()).isEmpty();
    assertThat(error.exitCode()).as(error.toString()).isEqualTo(2);
    assertThat(error.stdout()).isEmpty();
    assertThat(error.stderr()).contains("frobnicate", "'holdfast --help' shows");
  }

  /** Options take precedence: the environment configures the opposite of each. */
  @Test
  void shouldServeWithItsOptionsAndEndOnSigterm() throws InterruptedException {
    try (ScriptedServer upstream = ScriptedServer.playing((_, wire) -> wire.answer(500, "", ""))) {
      List<String> command = PackagedProgram.command("serve", "--port", "0", "--host", "127.0.0.1");
      command.addAll(List.of("--store", redis.url() + "/1"));
      command.addAll(List.of("--upstream", upstream.url().toString(), "--transport", "sse"));
      ProcessBuilder builder = new ProcessBuilder(command);
      builder.environment().put("QUARKUS_HTTP_PORT", "1");
      builder.environment().put("HOLDFAST_STORE", "memory");
      builder.environment().put("HOLDFAST_UPSTREAM_COMMAND", "false");
      builder.environment().put("HOLDFAST_UPSTREAM_TRANSPORT", "stdio");
      Pattern ready = Pattern.compile("Listening on: http://127.0.0.1:(\\d+)");
      try (ServerProcess server = ServerProcess.start(builder, ready)) {
        McpClient client = McpClient.at(URI.create("http://127.0.0.1:" + server.port() + "/mcp"));

        assertThat(client.initialized().statusCode()).isEqualTo(502);
        // With the transport detected, the first request would be a POST.
        assertThat(upstream.requests().getFirst().method()).isEqualTo("GET");
        await().until(() -> redis.reply("INFO", "keyspace").getFirst().contains("db1:"));
        server.process().destroy();
        assertThat(server.process().waitFor(20, TimeUnit.SECONDS)).as(server.output()).isTrue();
      }
    }
  }

  @Test
  void shouldListSessionsAndStreamsAndEndOne() {
    McpClient client = client();
    countdown(client, 2, 10).rest();
    String id = client.session();
    String store = redis.url();

    awaitCompleteStream(id);
    ProcessResult sessions = PackagedProgram.run("sessions", "--store", store, "--json");
    ProcessResult table = PackagedProgram.run("sessions", "--store", store);
    String beginning = id.substring(0, 6);
    ProcessResult streams = PackagedProgram.run("streams", beginning, "--store", store, "--json");
    ProcessResult purge = PackagedProgram.run("purge", id, "--store", store, "--json");

    assertThat(sessions.exitCode()).as(sessions.toString()).isZero();
    assertThat(json(sessions))
        .filteredOn(each -> each.path("session").asText().equals(id))
        .singleElement()
        .satisfies(CommandsIT::assertHasActivity);
    assertThat(table.stdout()).startsWith("SESSION ");
    assertThat(table.stdout().lines())
        .anyMatch(line ->
            line.matches(
                id + " +default +streamable-http +0 +\\S+Z +\\S+Z +\\d+ +0 +127.0.0.1 +- +test/1"));
    assertThat(streams.exitCode()).as(streams.toString()).isZero();
    assertThat(json(streams))
        .anyMatch(each ->
            each.path("state").asText().equals("complete") && each.path("events").asInt() == 3);
    assertThat(purge.exitCode()).as(purge.toString()).isZero();
    assertThat(json(purge)).singleElement().matches(each -> each.path("ended").asInt() == 1);
    assertThat(client.post("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}").statusCode())
        .isEqualTo(404);
  }

  /** The gateway records complete streams twice a second, and the command asks only Redis. */
  private static void awaitCompleteStream(String session) {
    String streams = "holdfast:{" + session + "}:streams";
    await().until(() -> redis.command("ZCARD", streams).equals(":1"));
  }

  /** The gateway stores the first use of a session at once, and later uses minutes later. */
  private static void assertHasActivity(JsonNode session) {
    assertThat(session.path("requests").asInt()).isPositive();
    assertThat(session.path("errors").asInt(-1)).isZero();
    assertThat(session.path("address").asText()).isEqualTo("127.0.0.1");
    assertThat(session.path("client").asText()).isEqualTo("test/1");
    assertThat(session.path("userAgent").asText()).isEqualTo(McpClient.USER_AGENT);
    assertThat(session.path("knownAs").asText()).isEqualTo("-");
    assertThat(session.path("upstream").asText()).isEqualTo("default");
    assertThat(session.path("transport").asText()).isEqualTo("streamable-http");
    assertThat(Instant.parse(session.path("lastUsed").asText()))
        .isAfterOrEqualTo(Instant.parse(session.path("created").asText()));
  }

  @Test
  void shouldTellHowManyStreamsAClientFollows() {
    Instant started = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    McpClient client = client();
    FrameStream listening = client.listen();
    FrameStream call = countdown(client, 600, 100);
    call.event();
    listening.next();

    assertThat(connected(client)).isEqualTo(2);

    call.cut();
    await().untilAsserted(() -> assertThat(connected(client)).isEqualTo(1));
    listening.cut();
    await().untilAsserted(() -> assertThat(connected(client)).isZero());
    FrameStream rest = client.resume(call.lastEventId());
    rest.event();
    assertThat(connected(client)).isEqualTo(1);
    assertThat(Instant.parse(ofSession(client).at("/connections/0/since").asText()))
        .isBetween(started, Instant.now());
    rest.cut();
    client.delete();
  }

  private static int connected(McpClient client) {
    JsonNode session = ofSession(client);
    int connected = session.path("connected").asInt(-1);
    assertThat(session.path("connections")).hasSize(connected);
    return connected;
  }

  private static JsonNode ofSession(McpClient client) {
    ProcessResult sessions = PackagedProgram.run("sessions", "--store", redis.url(), "--json");
    return json(sessions).stream()
        .filter(each -> each.path("session").asText().equals(client.session()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void shouldPrintAStreamAndItsMessages() {
    McpClient client = client();
    FrameStream call = countdown(client, 2, 10);
    call.rest();
    String last = call.lastEventId();
    String stream = last.substring(0, last.indexOf('_'));
    String id = client.session();

    awaitCompleteStream(id);
    ProcessResult streams = PackagedProgram.run("streams", "--store", redis.url());
    ProcessResult tail = PackagedProgram.run("tail", id, stream, "--store", redis.url());

    assertThat(streams.exitCode()).as(streams.toString()).isZero();
    assertThat(streams.stdout()).startsWith("SESSION ");
    assertThat(streams.stdout().lines())
        .anyMatch(line -> line.matches(id + " +" + stream + " +complete +3 +" + last));
    assertThat(tail.exitCode()).as(tail.toString()).isZero();
    assertThat(tail.stdout().lines())
        .hasSize(3)
        .allMatch(line -> line.matches(stream + "_\\d+-\\d+ \\{.*}"))
        .last()
        .matches(line -> line.startsWith(last + " {") && line.contains("liftoff"));
  }

  /** The command does not know the "team" upstream, so it cannot end that session there. */
  @Test
  void shouldEndExpiredSessionsAndThenAllOthers() {
    McpClient expired = client();
    String key = "holdfast:{" + expired.session() + "}";
    redis.command("HSET", key, "expires", "1");
    redis.command("ZADD", "holdfast:sessions", "1", expired.session());
    McpClient alive = client();
    McpClient team = McpClient.at(gateway.url("/servers/team/mcp"));

    ProcessResult purged = PackagedProgram.run("purge", "--expired", "--store", redis.url());
    boolean kept = redis.keys().contains("holdfast:{" + alive.session() + "}");
    ProcessResult all =
        PackagedProgram.run("purge", "--all", "--yes", "--store", redis.url(), "--json");

    assertThat(purged.exitCode()).as(purged.toString()).isZero();
    assertThat(purged.stdout()).isEqualTo("1 session ended\n");
    assertThat(kept).isTrue();
    assertThat(all.exitCode()).as(all.toString()).isZero();
    assertThat(json(all)).singleElement().matches(each -> each.path("ended").asInt() >= 2);
    assertThat(json(all)).singleElement().matches(each -> each.path("untold").asInt() == 1);
    assertThat(all.stderr()).contains("The upstreams of 1 of them were not told");
    assertThat(redis.command("ZCARD", "holdfast:sessions")).isEqualTo(":0");
    assertThat(alive.listen().status()).isEqualTo(404);
    assertThat(team.listen().status()).isEqualTo(404);
  }

  /** A regression would evict the client, since a stream has one tail. */
  @Test
  void shouldFollowAStreamWithoutEvictingItsClient() {
    McpClient client = client();
    FrameStream call = countdown(client, 60, 100);
    String first = call.event().id();
    String stream = first.substring(0, first.indexOf('_'));

    ProcessResult tail =
        PackagedProgram.run(
            "tail", client.session(), "--from", stream + "_0-0", "--store", redis.url(), "--json");

    assertThat(tail.exitCode()).as(tail.toString()).isZero();
    assertThat(json(tail)).hasSize(61);
    assertThat(json(tail).getLast().at("/message/result/content/0/text").asText())
        .isEqualTo("liftoff");
    assertThat(json(tail).getFirst().path("id").asText()).startsWith(stream + "_");
    call.rest();
    assertThat(call.raw()).contains("liftoff");
  }

  /** The events of its standalone stream are in the shared stream. */
  @Test
  void shouldFollowTheSharedStreamOfAnHttpWithSseSession() {
    SseClient client = SseClient.initialized(gateway.url("/sse"));
    client.post(SseClient.call("1", "echo", "{\"message\":\"hello\"}"));

    try (StdioProgram tail =
        new StdioProgram(
            PackagedProgram.command("tail", client.session(), "--store", redis.url(), "--json"))) {
      await()
          .untilAsserted(() ->
              assertThat(tail.messages())
                  .as(tail.toString())
                  .anyMatch(
                      each -> each.at("/message/result/content/0/text").asText().equals("hello"))
                  .allMatch(each -> each.path("id").asText().startsWith("m_")));
      client.delete();
      assertThat(tail.end()).as(tail.toString()).isZero();
    }
  }

  @Test
  void shouldRefuseAProgramThatDoesNotExist() {
    ProcessResult refused = PackagedProgram.run("stdio", "--", "nosuchprogram", "--option");

    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.stdout()).isEmpty();
    assertThat(refused.stderr()).isEqualTo("There is no program nosuchprogram.\n");
  }

  @Test
  void shouldReportAnUnknownStream() {
    ProcessResult tail =
        PackagedProgram.run("tail", client().session(), "nosuch", "--store", redis.url());

    assertThat(tail.exitCode()).as(tail.toString()).isEqualTo(1);
    assertThat(tail.stdout()).isEmpty();
    assertThat(tail.stderr()).contains("There is no such stream");
  }

  @Test
  void shouldCheckRedisAndUpstreams() {
    ProcessResult doctor = PackagedProgram.run("doctor", "--store", redis.url(), "--json");

    assertThat(doctor.exitCode()).as(doctor.toString()).isZero();
    assertThat(json(doctor))
        .extracting(each -> each.path("check").asText() + " " + each.path("verdict").asText())
        .contains(
            "store fine",
            "version of Redis fine",
            "persistence doubtful",
            "eviction fine",
            "memory fine",
            "clock fine",
            "upstream default fine");
    // Only the gateway is registered as a replica, not the command.
    assertThat(redis.reply("ZRANGE", "holdfast:replicas", "0", "-1")).hasSize(1);
  }

  @Test
  void shouldReportAnUnreachableUpstream() {
    ProcessResult doctor = PackagedProgram.run("doctor", "--upstream", "http://127.0.0.1:1/mcp");

    assertThat(doctor.exitCode()).as(doctor.toString()).isEqualTo(1);
    assertThat(doctor.stdout()).contains("wrong    upstream default", "check holdfast.upstream ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"doctor", "sessions", "streams", "purge --expired"})
  void shouldReportAnUnreachableStore(String words) {
    ProcessResult result = PackagedProgram.run((words + " --store redis://127.0.0.1:1").split(" "));

    assertThat(result.exitCode()).as(result.toString()).isEqualTo(3);
  }

  @Test
  void shouldNotPrintAnInvalidUrl() {
    ProcessResult doctor = PackagedProgram.run("doctor", "--store", "redis://:secret^@127.0.0.1:1");

    assertThat(doctor.exitCode()).as(doctor.toString()).isEqualTo(1);
    assertThat(doctor.stderr()).contains("quarkus.redis.hosts (command line) is not a URL");
    assertThat(doctor.toString()).doesNotContain("secret");
  }

  @Test
  void shouldRefuseTheMemoryStore() {
    ProcessResult result = PackagedProgram.run("purge", "--expired", "--store", "memory");

    assertThat(result.exitCode()).as(result.toString()).isEqualTo(1);
    assertThat(result.stdout()).isEmpty();
    assertThat(result.stderr()).contains("cannot be seen from another process");
  }

  @Test
  void shouldEndATailOnSigterm() throws InterruptedException {
    McpClient client = client();
    String id = client.session();
    try (FrameStream _ = client.listen();
        StdioProgram tail =
            new StdioProgram(PackagedProgram.command("tail", id, "--store", redis.url()))) {
      assertThat(tail.terminate()).as(tail.toString()).isTrue();
    }
  }
}
