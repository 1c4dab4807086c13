package dev.holdfast.clients;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.testing.Chromium;
import dev.holdfast.testing.Exchange;
import dev.holdfast.testing.Fault;
import dev.holdfast.testing.Fault.Trigger;
import dev.holdfast.testing.FaultProxy;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import dev.holdfast.testing.SseClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Clients over HTTP with SSE (2024-11-05), which lose their one connection in the middle of calls:
 * on whichever replica they come back, they get each event once and in order.
 */
@Timeout(120)
class SseClientsIT {

  private static final long SEED = Long.getLong("holdfast.seed", 20_241_105L);
  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final int STEPS = 10;
  private static final Pattern TOKEN = Pattern.compile("\"progressToken\":\"?(\\w+)");
  private static final Pattern PROGRESS = Pattern.compile("\"progress\":(\\d+)");
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The page is of another origin than any replica. */
  private static final String PAGE_HOST = "page.example";

  private static NodeFixture server;
  private static RedisFixture redis;
  private static HttpServer pages;
  private static Gateway first;
  private static Gateway second;

  @BeforeAll
  static void start() throws IOException {
    server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
    redis = RedisFixture.start();
    pages = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    pages.start();
    first = replica();
    second = replica();
  }

  @AfterAll
  static void stop() {
    second.close();
    first.close();
    pages.stop(0);
    redis.close();
    server.close();
  }

  private static Gateway replica() {
    return Gateway.start(
        redis.gatewaySettings(
            "holdfast.stream.retry",
            "100ms",
            "holdfast.upstream.url",
            server.url().toString(),
            "holdfast.upstreams.piped.command",
            NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO),
            "holdfast.http.allowed-origins",
            pageOrigin()));
  }

  private static String pageOrigin() {
    return "http://" + PAGE_HOST + ":" + pages.getAddress().getPort();
  }

  /** Cuts each stream somewhere: before or in its head, between events, inside one. */
  private static FaultProxy cutting(Gateway replica, String path, long seed) {
    Map<String, Integer> attempts = new ConcurrentHashMap<>();
    return FaultProxy.inFrontOf(replica.url(path))
        .plan(exchange -> {
          if (!exchange.isA("GET")) {
            return Fault.none();
          }
          String subject = exchange.header("Last-Event-ID").orElse("");
          int attempt = attempts.merge(subject, 1, Integer::sum);
          return cut(new Random((seed * 31 + subject.hashCode()) * 31 + attempt));
        });
  }

  private static Fault cut(Random random) {
    Trigger at =
        switch (random.nextInt(6)) {
          case 0 -> Trigger.afterBytes(random.nextInt(600));
          case 1, 2, 3 -> Trigger.afterEvents(1 + random.nextInt(STEPS));
          default -> Trigger.insideEvent(1 + random.nextInt(STEPS), 1 + random.nextInt(60));
        };
    return random.nextBoolean() ? Fault.reset(at) : Fault.finish(at);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/sse", "/servers/piped/sse"})
  void shouldBringEveryEventOnceHoweverOftenItsConnectionIsCut(String path) throws Exception {
    int calls = 12;
    try (FaultProxy toFirst = cutting(first, path, SEED);
        FaultProxy toSecond = cutting(second, path, SEED + 1);
        EventSource client =
            new EventSource(List.of(toFirst.url(), toSecond.url()), new Random(SEED))) {
      Random random = new Random(SEED + 2);
      client.send(any(random, path), SseClient.initialize("0", "2024-11-05"));
      awaitResult(client, 0);
      client.send(any(random, path), initialized());
      for (int id = 1; id <= calls; id++) {
        client.send(any(random, path), count(id, STEPS, 5));
        if (id % 3 == 0) {
          awaitResult(client, id);
        }
      }
      for (int id = 1; id <= calls; id++) {
        awaitResult(client, id);
      }

      isWhole(client, calls, STEPS);
      assertThat(client.connections()).isGreaterThan(calls);
    }
  }

  private static URI any(Random random, String path) {
    return (random.nextBoolean() ? first : second).url(path);
  }

  private static String initialized() {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
  }

  private static String count(int id, int steps, int interval) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"count",\
    "arguments":{"n":%d,"intervalMs":%d},"_meta":{"progressToken":"t%d"}}}\
    """
        .formatted(id, steps, interval, id);
  }

  private static void awaitResult(EventSource client, int id) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(answersTo(client, id)).as(client.toString()).isNotEmpty());
  }

  private static List<String> answersTo(EventSource client, int id) {
    return client.messages().stream()
        .map(Frame.Event::data)
        .filter(data -> data.contains("\"id\":" + id + "}") || data.contains("\"id\":" + id + ","))
        .toList();
  }

  /** Every call has all its steps in order and one result; the stream has no hole and no double. */
  private static void isWhole(EventSource client, int calls, int steps) {
    List<Frame.Event> messages = client.messages();
    assertThat(messages)
        .as(client.toString())
        .extracting(Frame.Event::number)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, messages.size()).boxed().toList());
    for (int id = 1; id <= calls; id++) {
      String token = "t" + id;
      assertThat(
              messages.stream()
                  .map(Frame.Event::data)
                  .filter(data -> token.equals(group(TOKEN, data)))
                  .map(data -> group(PROGRESS, data)))
          .as("call %s %s", id, client)
          .containsExactlyElementsOf(
              IntStream.rangeClosed(1, steps).mapToObj(Integer::toString).toList());
      assertThat(answersTo(client, id))
          .as("call %s %s", id, client)
          .singleElement()
          .satisfies(answer -> assertThat(answer).contains("counted " + steps));
    }
  }

  private static String group(Pattern pattern, String data) {
    Matcher matcher = pattern.matcher(data);
    return matcher.find() ? matcher.group(1) : "";
  }

  /** A 503 would be the end of an event source. */
  @Test
  void shouldComeBackAgainAndAgainWhileRedisIsAway() throws Exception {
    URI replica = first.url("/sse");
    try (EventSource client = new EventSource(List.of(replica), new Random(SEED))) {
      client.send(replica, SseClient.initialize("0", "2024-11-05"));
      awaitResult(client, 0);
      redis.freeze();
      try {
        int before = client.connections();
        client.cut();
        await().atMost(PATIENCE).until(() -> client.connections() >= before + 2);
      } finally {
        redis.thaw();
      }

      await().atMost(PATIENCE).until(SseClientsIT::isReady);
      client.send(replica, count(1, STEPS, 5));
      awaitResult(client, 1);
      isWhole(client, 1, STEPS);
    }
  }

  private static boolean isReady() throws IOException {
    try (FrameStream answer = SseClient.open(first.url("/q/health/ready"), "")) {
      return answer.status() == 200;
    }
  }

  /** Its own transport forgets where it was; the project's {@code fetch} for it does not. */
  @Test
  void shouldFinishACallOfTheTypeScriptSdkOnAnotherReplica() {
    try (RoundRobin both = RoundRobin.over(first.url("/sse"), second.url("/sse"));
        FaultProxy network =
            FaultProxy.inFrontOf(both.url()).plan(StreamCuts.ofStandaloneStream(4, SEED))) {
      TypeScriptClient client =
          TypeScriptClient.call(network.url(), "count", "{\"n\":30,\"intervalMs\":30}", "--sse");

      client.hasCounted(30);
      assertThat(network.exchanges()).filteredOn(StreamCuts::resumes).hasSize(4);
      assertThat(network.exchanges())
          .filteredOn(exchange -> exchange.isA("GET"))
          .extracting(Exchange::requestLine)
          .containsOnly("GET /sse HTTP/1.1");
      assertThat(both.requests(0)).isGreaterThan(2);
      assertThat(both.requests(1)).isGreaterThan(2);
    }
  }

  /**
   * A browser comes back by itself. The stream that it follows was on the replica that is killed,
   * and every other of its requests came there.
   */
  @Test
  void shouldFinishACallOfABrowserThoughTheReplicaIsKilled() throws Exception {
    Map<String, JsonNode> reports = new ConcurrentHashMap<>();
    try (Gateway doomed = replica();
        RoundRobin others = RoundRobin.over(doomed.url("/sse"), first.url("/sse"))) {
      serve("/report/", exchange -> report(exchange, reports));
      serve("/", exchange -> answer(exchange, page(others.url())));
      URI page = URI.create(pageOrigin() + "/");
      try (Chromium browser =
          Chromium.open(page, "--host-resolver-rules=MAP " + PAGE_HOST + " 127.0.0.1")) {
        await()
            .atMost(PATIENCE)
            .untilAsserted(() -> assertThat(reports).as(browser.output()).containsKey("running"));
        doomed.kill();
        await()
            .atMost(PATIENCE)
            .untilAsserted(() ->
                assertThat(reports).as("%s %s", reports, browser.output()).containsKey("done"));
      }
    }
    JsonNode done = Objects.requireNonNull(reports.get("done"));
    assertThat(done.get("opened").asInt()).isGreaterThanOrEqualTo(2);
    assertThat(done.get("text").asText()).isEqualTo("counted 30");
    assertThat(done.get("progress").valueStream().map(JsonNode::asInt))
        .containsExactlyElementsOf(IntStream.rangeClosed(1, 30).boxed().toList());
    assertThat(done.get("ids").valueStream().map(JsonNode::asText)).doesNotHaveDuplicates();
    assertThat(reports).doesNotContainKey("failed");
  }

  private static void serve(String path, Handling handling) {
    pages.createContext(
        path,
        exchange -> {
          try (exchange) {
            handling.handle(exchange);
          }
        });
  }

  /** What the server of pages does. */
  private interface Handling {
    void handle(HttpExchange exchange) throws IOException;
  }

  private static void report(HttpExchange exchange, Map<String, JsonNode> reports)
      throws IOException {
    String path = exchange.getRequestURI().getPath();
    JsonNode body = JSON.readTree(exchange.getRequestBody());
    exchange.sendResponseHeaders(204, -1);
    reports.put(path.substring(path.lastIndexOf('/') + 1), body);
  }

  private static void answer(HttpExchange exchange, String page) throws IOException {
    byte[] body = page.getBytes(UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
  }

  private static String page(URI sse) throws IOException {
    try (var page = Objects.requireNonNull(SseClientsIT.class.getResourceAsStream("page.html"))) {
      return new String(page.readAllBytes(), UTF_8).replace("SSE_URL", sse.toString());
    }
  }
}
