package dev.holdfast.bridge;

import static dev.holdfast.upstream.http.UpstreamFixture.event;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.era.south.Era;
import dev.holdfast.era.south.EraUpstream;
import dev.holdfast.era.south.ResultCache;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.http.HttpUpstreamSettings;
import dev.holdfast.upstream.http.UpstreamFixture;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LogLevelStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests of a client without a session, over real sockets. */
@Timeout(60)
class StatelessBridgeTest {

  private static final String JSON = "application/json";
  private static final String SSE = "text/event-stream";
  private static final String NO_TOOLS =
      "{\"jsonrpc\":\"2.0\",\"id\":\"headers\",\"result\":{\"tools\":[]}}";
  private static final String PROGRESS =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":%d}}";
  private static final String ACKNOWLEDGED =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\"}";

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  private static String request(String id, String method, String params) {
    return ("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":{%s\"_meta\":"
            + "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
            + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}")
        .formatted(id, method, params);
  }

  private static String call(String id) {
    return request(id, "tools/call", "\"name\":\"count\",");
  }

  private static String cancel(String id) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
        + id
        + "}}";
  }

  private static String result(String id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}";
  }

  /** A client of a bridge in front of a server. */
  private final class Client implements AutoCloseable {

    private final PipedOutputStream to = new PipedOutputStream();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final StdioBridge bridge;
    private final Thread running;

    Client(Upstream upstream) throws IOException {
      PipedInputStream from = new PipedInputStream(to, 1 << 16);
      bridge = new StdioBridge(upstream, out, 1 << 16);
      running = Thread.ofVirtual().start(() -> bridge.run(from));
    }

    Client(ScriptedServer server) throws IOException {
      this(
          new EraUpstream(
              fixture.upstream(patient(settings(server.url()))),
              Era.AUTO,
              new MemorySessionStore(
                  Duration.ofMinutes(1),
                  () -> new SessionLimits(1, 1, Map.of()),
                  InstantSource.system()),
              Duration.ZERO,
              ByteBudget.ofHeap(8, Long.MAX_VALUE),
              ResultCache.NONE));
    }

    void say(String... lines) throws IOException {
      to.write((String.join("\n", lines) + "\n").getBytes(UTF_8));
      to.flush();
    }

    List<String> told() {
      return out.toString(UTF_8).lines().toList();
    }

    String next(int count) {
      await().until(() -> told().size() >= count);
      return told().get(count - 1);
    }

    /** Ends the input and waits for the rest. */
    List<String> end() throws Exception {
      to.close();
      running.join();
      return told();
    }

    @Override
    public void close() throws IOException {
      to.close();
      bridge.close();
      running.interrupt();
    }
  }

  private static HttpUpstreamSettings patient(HttpUpstreamSettings s) {
    return new HttpUpstreamSettings(
        s.url(),
        s.headers(),
        s.connectTimeout(),
        HttpUpstreamSettings.Reconnection.PATIENT,
        s.maxConnections(),
        s.tls(),
        s.credentials(),
        s.channel());
  }

  @Test
  void shouldPostEachRequestWithoutASession() throws Exception {
    ScriptedServer server =
        fixture.server(
            (_, wire) -> wire.answer(200, JSON, result("\"a\"")),
            (_, wire) -> wire.answer(200, JSON, NO_TOOLS),
            (_, wire) ->
                wire.answer(200, SSE, event(PROGRESS.formatted(1)) + event(result("\"b\""))));
    try (Client client = new Client(server)) {
      client.say(request("\"a\"", "server/discover", ""));
      assertThat(client.next(1)).isEqualTo(result("\"a\""));
      client.say(call("\"b\""));

      assertThat(client.end())
          .containsExactly(result("\"a\""), PROGRESS.formatted(1), result("\"b\""));
    }
    ScriptedRequest sent = server.requests().getLast();
    assertThat(sent.body()).isEqualTo(call("\"b\""));
    assertThat(sent.headers())
        .containsEntry("mcp-protocol-version", "2026-07-28")
        .containsEntry("mcp-method", "tools/call")
        .containsEntry("mcp-name", "count")
        .doesNotContainKey("mcp-session-id");
    assertThat(server.requests()).hasSize(3);
  }

  @Test
  void shouldResumeACallAfterItsLastEvent() throws Exception {
    ScriptedServer server =
        fixture.server(
            (_, wire) -> wire.answer(200, JSON, NO_TOOLS),
            (_, wire) -> {
              wire.beginEvents().chunk("retry: 1\n" + event("s_1", PROGRESS.formatted(1)));
              wire.reset();
            },
            (_, wire) ->
                wire.answer(
                    200, SSE, event("s_2", PROGRESS.formatted(2)) + event("s_3", result("1"))));
    try (Client client = new Client(server)) {
      client.say(call("1"));

      assertThat(client.end())
          .containsExactly(PROGRESS.formatted(1), PROGRESS.formatted(2), result("1"));
    }
    ScriptedRequest resumed = server.requests().getLast();
    assertThat(resumed.method()).isEqualTo("GET");
    assertThat(resumed.headers())
        .containsEntry("last-event-id", "s_1")
        .containsEntry("mcp-protocol-version", "2026-07-28")
        .doesNotContainKey("mcp-session-id");
  }

  /** A second call could do the same again. */
  @Test
  void withoutEventIdsShouldNotRepeatACall() throws Exception {
    ScriptedServer server =
        fixture.server(
            (_, wire) -> wire.answer(200, JSON, NO_TOOLS),
            (_, wire) -> {
              wire.beginEvents().chunk(event(PROGRESS.formatted(1)));
              wire.reset();
            });
    try (Client client = new Client(server)) {
      client.say(call("1"));

      assertThat(client.end().getLast()).contains("\"id\":1", "the outcome is unknown");
    }
    assertThat(server.requests()).hasSize(2);
  }

  @Test
  void shouldCancelByClosingTheConnection() throws Exception {
    CountDownLatch closed = new CountDownLatch(2);
    ScriptedServer server =
        fixture.server(
            (_, wire) -> wire.answer(200, JSON, NO_TOOLS),
            (_, wire) -> {
              wire.beginEvents().chunk(event(PROGRESS.formatted(1)));
              wire.stall();
              closed.countDown();
            },
            (_, wire) -> {
              wire.stall(); // Before the head of the answer.
              closed.countDown();
            },
            (_, wire) -> wire.answer(200, JSON, result("3")));
    try (Client client = new Client(server)) {
      client.say(call("1"));
      assertThat(client.next(1)).isEqualTo(PROGRESS.formatted(1));
      client.say(call("2"));
      await().until(() -> server.requests().size() == 3);

      client.say(cancel("1"), cancel("2"), cancel("9"));

      assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
      client.say(call("3"));
      assertThat(client.end()).containsExactly(PROGRESS.formatted(1), result("3"));
    }
    assertThat(server.requests()).noneMatch(sent -> sent.body().contains("notifications/"));
  }

  /** The client misses changes between the two streams of the server. */
  @Test
  void shouldOpenALostSubscriptionAgainUntilItIsCancelled() throws Exception {
    String acknowledged =
        ACKNOWLEDGED.replace(
            "acknowledged\"",
            "acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true,"
                + "\"promptsListChanged\":false,\"resourceSubscriptions\":[\"x:1\"]}}");
    CountDownLatch closed = new CountDownLatch(1);
    ScriptedServer server =
        fixture.server(
            (_, wire) -> {
              wire.beginEvents().chunk(event(acknowledged));
              wire.reset();
            },
            (_, wire) -> {
              wire.beginEvents().chunk(event(acknowledged));
              wire.stall();
              closed.countDown();
            });
    try (Client client = new Client(server)) {
      client.say(request("\"l\"", "subscriptions/listen", "\"notifications\":{},"));
      String all = client.next(3);

      client.say(cancel("\"l\""));

      assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
      String tag = "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":\"l\"}}}";
      assertThat(all)
          .isEqualTo(
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
                  + "\"params\":{\"uri\":\"x:1\","
                  + tag);
      assertThat(client.end())
          .containsExactly(
              acknowledged,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\","
                  + "\"params\":{"
                  + tag,
              all);
    }
    assertThat(server.requests()).hasSize(2);
  }

  @Test
  void shouldNotWaitForSubscriptionsWhenTheInputEnds() throws Exception {
    ScriptedServer server =
        fixture.server((_, wire) -> {
          wire.beginEvents().chunk(event(ACKNOWLEDGED));
          wire.stall();
        });
    try (LoggedLines log = new LoggedLines(StdioBridge.class);
        Client client = new Client(server)) {
      client.say(request("1", "subscriptions/listen", "\"notifications\":{},"));
      assertThat(client.next(1)).isEqualTo(ACKNOWLEDGED);

      assertThat(client.end()).containsExactly(ACKNOWLEDGED);
      assertThat(log.lines()).isEmpty();
    }
  }

  @Test
  void shouldPassOnWhyASubscriptionIsRefused() throws Exception {
    String error = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"no\"}}";
    ScriptedServer server = fixture.server((_, wire) -> wire.answer(400, JSON, error));
    try (Client client = new Client(server)) {
      client.say(request("1", "subscriptions/listen", ""));

      assertThat(client.next(1)).isEqualTo(error);
    }
  }

  /** The client then initializes. */
  @Test
  void shouldNameRevisionsOfAServerWithSessions() throws Exception {
    String noSession =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"No session\"}}";
    ScriptedServer server = fixture.server((_, wire) -> wire.answer(400, JSON, noSession));
    try (Client client = new Client(server)) {
      client.say(request("1", "server/discover", ""));

      assertThat(client.end()).singleElement().asString().contains("-32022", "\"2025-11-25\"");
    }
  }

  @Test
  void shouldServeBothErasAtOnce() throws Exception {
    try (LocalUpstream upstream =
            new LocalUpstream(
                new LocalUpstream.ServerFeatures(List.of(), List.of(), List.of()),
                new LogLevelStore.InMemory(),
                "server",
                "1");
        Client client = new Client(upstream)) {
      client.say(request("1", "server/discover", ""));
      assertThat(client.next(1))
          .contains("\"id\":1", "-32022", "\"2025-11-25\"", "\"requested\":\"2026-07-28\"")
          .doesNotContain("\"2026-07-28\",");
      client.say(
          """
          {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
          "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\
          """);
      assertThat(client.next(2)).contains("\"id\":2", "\"protocolVersion\":\"2025-11-25\"");
      client.say("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");

      assertThat(client.end().getLast()).isEqualTo(result("3"));
    }
  }
}
