package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.call;
import static dev.holdfast.upstream.http.UpstreamFixture.response;
import static dev.holdfast.upstream.http.UpstreamFixture.timeouts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.protocol.Body;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.ObservedUpstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.upstream.UpstreamSession;
import io.vertx.core.impl.ContextInternal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpUpstreamSessionTest {

  private static final String JSON = "application/json";
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(10);

  private static final Body NOTIFICATION =
      body("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  private static String text(Answer answer) {
    assertThat(answer).isInstanceOf(Answer.Json.class);
    return new String(((Answer.Json) answer).json(), StandardCharsets.UTF_8);
  }

  @Test
  void shouldAnswerWithJsonOnOneLine() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) ->
            wire.answer(
                200,
                "application/json; charset=utf-8",
                "{\n \"jsonrpc\": \"2.0\",\r\n \"id\": 1, \"result\": {}\n}"));

    // when
    Answer answer = fixture.session(server).request(call(1));

    // then
    assertThat(text(answer)).isEqualTo("{  \"jsonrpc\": \"2.0\",   \"id\": 1, \"result\": {} }");
  }

  @Test
  void shouldSendExactlyTheHeadersOfTheSession() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(200, JSON, response(1)));
    Map<String, String> configured = Map.of("Authorization", "Bearer ours", "X-Tenant", "t");

    // when
    fixture.session(server, UpstreamFixture.headers(configured)).request(call(1));

    // then
    var request = server.requests().getFirst();
    assertThat(request.method()).isEqualTo("POST");
    assertThat(request.target()).isEqualTo("/mcp");
    assertThat(request.body().getBytes(StandardCharsets.UTF_8)).isEqualTo(call(1).bytes());
    assertThat(request.headers())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "host", server.url().getAuthority(),
                "accept", "application/json, text/event-stream",
                "content-type", JSON,
                "content-length", String.valueOf(call(1).bytes().length),
                "mcp-session-id", "up-1",
                "mcp-protocol-version", "2025-11-25",
                "authorization", "Bearer ours",
                "x-tenant", "t"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldServeThreadsWithVertxContext(boolean worker) throws Exception {
    // given a virtual thread with a Vert.x context, as Quarkus gives to HTTP requests
    ScriptedServer server =
        fixture.server(
            (request, wire) -> wire.answer(200, JSON, response(1)),
            (request, wire) ->
                wire.beginEvents().chunk("data: " + response(2) + "\n\n").endChunks());
    UpstreamSession session = fixture.session(server);
    ContextInternal context = fixture.context(worker).duplicate();
    CompletableFuture<Answer> json = new CompletableFuture<>();
    CompletableFuture<Integer> taken = new CompletableFuture<>();

    // when
    Thread.ofVirtual()
        .start(() -> {
          ContextInternal previous = context.beginDispatch();
          json.complete(session.request(call(1)));
          taken.complete(UpstreamFixture.takeAll(fixture.call(session)).size());
          context.endDispatch(previous);
        });

    // then
    assertThat(json).succeedsWithin(LONG);
    assertThat(taken).succeedsWithin(LONG).isEqualTo(1);
  }

  @Test
  void withoutUpstreamSessionShouldSendNoSessionId() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(200, JSON, response(1)));
    UpstreamSession session =
        fixture
            .upstream(UpstreamFixture.settings(server.url()))
            .attach(new UpstreamLink(null, "2025-06-18"));

    // when
    session.request(call(1));

    // then
    assertThat(server.requests().getFirst().headers())
        .doesNotContainKey("mcp-session-id")
        .containsEntry("mcp-protocol-version", "2025-06-18");
  }

  @Test
  void shouldKeepConnectionsForTheNextRequest() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(200, JSON, response(1)));
    UpstreamSession session = fixture.session(server);

    // when
    for (int i = 0; i < 50; i++) {
      session.request(call(1));
    }

    // then
    assertThat(server.connections()).isEqualTo(fixture.eventLoops());
  }

  /**
   * Guards against a race: a stream is closed just when it ends. Its connection is back in the pool
   * by then, and may carry the next request.
   */
  @Test
  void closingEndingStreamShouldNotBreakNextRequest() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) ->
            wire.beginEvents().chunk("data: " + response(1) + "\n\n").endChunks());
    UpstreamSession session = fixture.session(server);

    // when, then
    for (int i = 0; i < 2_000; i++) {
      try (MessageSource source = ((Answer.Stream) session.request(call(1))).source()) {
        assertThat(source.take()).hasSize(1);
      }
    }
  }

  @Test
  void shouldSendNotification() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(202, "", ""));
    UpstreamSession session = fixture.session(server);

    // when
    for (int i = 0; i < 50; i++) {
      session.send(NOTIFICATION);
    }

    // then
    assertThat(server.requests()).hasSize(50);
    assertThat(server.connections()).isEqualTo(fixture.eventLoops());
  }

  @Test
  void on404ShouldReportSessionGone() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(404, "", ""));
    UpstreamSession session = fixture.session(server);

    // when, then
    assertThatThrownBy(() -> session.request(call(1)))
        .isInstanceOf(UpstreamException.SessionGone.class);
    assertThatThrownBy(() -> session.send(NOTIFICATION))
        .isInstanceOf(UpstreamException.SessionGone.class);
    assertThatThrownBy(() -> session.listen(null))
        .isInstanceOf(UpstreamException.SessionGone.class);
    assertThatThrownBy(() -> session.resume("1")).isInstanceOf(UpstreamException.SessionGone.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 405, 429, 500, 503})
  void onErrorStatusShouldPassOnJsonRpcError(int status) {
    // given
    String error = "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,\n\"message\":\"no\"}}";
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(status, JSON, error));
    UpstreamSession session = fixture.session(server);

    // when
    var refused =
        catchThrowableOfType(UpstreamException.Refused.class, () -> session.request(call(1)));

    // then
    assertThat(refused.status()).isEqualTo(status);
    assertThat(refused.error()).asString().isEqualTo(error.replace('\n', ' '));
  }

  /** The error may name the gateway's credentials, which are not the client's. */
  @ParameterizedTest
  @ValueSource(ints = {401, 403, 407})
  void shouldKeepErrorsAboutCredentialsFromClients(int status) {
    // given
    String error = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"bad key\"}}";
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(status, JSON, error));
    UpstreamSession session = fixture.session(server);

    // when
    var refused =
        catchThrowableOfType(UpstreamException.Refused.class, () -> session.request(call(1)));

    // then
    assertThat(refused.status()).isEqualTo(status);
    assertThat(refused.error()).isNull();
  }

  @Test
  void shouldTellTheOperatorOfRefusedCredentialsOnce() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(401, JSON, "{}"));
    HttpUpstreamSettings settings =
        UpstreamFixture.headers(Map.of("Authorization", "Bearer secret"))
            .apply(UpstreamFixture.settings(server.url()));

    try (UpstreamMonitor monitor = new UpstreamMonitor();
        LoggedLines log = new LoggedLines(UpstreamMonitor.class)) {
      UpstreamSession session =
          ObservedUpstream.of(
                  fixture.upstream(settings), List.of(monitor.watch("files", Optional::empty)))
              .attach(UpstreamFixture.LINK);

      // when
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> session.send(NOTIFICATION))
            .isInstanceOf(UpstreamException.Refused.class);
      }

      // then
      assertThat(log.lines())
          .singleElement()
          .asString()
          .contains("upstream=files", "401", "refuses the credentials", "upstream.headers")
          .doesNotContain("secret");
      assertThat(monitor.isUp("files")).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "text/html, <html>",
    "application/json, <html>",
    "application/json, ''",
    "application/json, '{\"error\":\"not JSON-RPC\"}'",
    "application/json, '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'"
  })
  void onErrorStatusShouldDropOtherBodies(String type, String text) {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(500, type, text));
    UpstreamSession session = fixture.session(server);

    // when
    var refused =
        catchThrowableOfType(UpstreamException.Refused.class, () -> session.request(call(1)));

    // then
    assertThat(refused.status()).isEqualTo(500);
    assertThat(refused.error()).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "200, '', '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'",
    "200, text/html, <html>",
    "200, application/json, <html>",
    "200, application/json, ''",
    "200, application/json, '{}'",
    "202, '', ''",
    "204, '', ''",
    "301, '', ''"
  })
  void onAnswerWithoutMcpShouldBeBroken(int status, String type, String text) {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(status, type, text));
    UpstreamSession session = fixture.session(server);

    // when, then
    assertThatThrownBy(() -> session.request(call(1))).isInstanceOf(UpstreamException.Broken.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"SSH-2.0-OpenSSH_9.9\r\n\r\n", "\r\n\r\n", "HTTP/1.1 twohundred OK\r\n\r\n"})
  void onAnswerWithoutHttpShouldBeBroken(String garbage) {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.write(garbage).close());
    UpstreamSession session = fixture.session(server);

    // when, then
    assertThatThrownBy(() -> session.request(call(1))).isInstanceOf(UpstreamException.Broken.class);
  }

  @Test
  void whenPortIsClosedShouldBeUnreachable() throws IOException {
    // given
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    URI url = URI.create("http://127.0.0.1:" + port + "/mcp");
    UpstreamSession session =
        fixture.upstream(UpstreamFixture.settings(url)).attach(UpstreamFixture.LINK);

    // when, then
    assertThatThrownBy(() -> session.request(call(1)))
        .isInstanceOf(UpstreamException.Unreachable.class);
  }

  @Test
  void whenTheHostIsUnknownShouldBeUnreachable() {
    // given
    URI url = URI.create("http://no-such-host.invalid/mcp");
    UpstreamSession session =
        fixture.upstream(UpstreamFixture.settings(url)).attach(UpstreamFixture.LINK);

    // when, then
    assertThatThrownBy(() -> session.request(call(1)))
        .isInstanceOf(UpstreamException.Unreachable.class);
  }

  @Test
  void whenTheConnectionClosesBeforeAnAnswerShouldBeBrokenAndNotRetried() {
    // given a server that may have acted on the request before it dies
    ScriptedServer server = fixture.server((request, wire) -> wire.close());
    UpstreamSession session = fixture.session(server);

    // when
    assertThatThrownBy(() -> session.request(call(1))).isInstanceOf(UpstreamException.Broken.class);

    // then
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void whenKeptConnectionIsDeadShouldBeBrokenAndNotRetried() {
    // given a kept connection on each event loop
    int kept = fixture.eventLoops();
    ScriptedServer.Script[] scripts = new ScriptedServer.Script[kept + 1];
    Arrays.fill(
        scripts, (ScriptedServer.Script) (request, wire) -> wire.answer(200, JSON, response(1)));
    scripts[kept] = (request, wire) -> wire.reset();
    ScriptedServer server = fixture.server(scripts);
    UpstreamSession session = fixture.session(server);
    for (int i = 0; i < kept; i++) {
      session.request(call(1));
    }

    // when
    assertThatThrownBy(() -> session.request(call(2))).isInstanceOf(UpstreamException.Broken.class);

    // then
    assertThat(server.requests()).hasSize(kept + 1);
  }

  @Test
  void whenNoAnswerBeginsShouldTimeOutAndDisconnect() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.stall());
    UpstreamSession session = fixture.session(server, timeouts(SHORT, LONG));

    // when, then
    assertThatThrownBy(() -> session.request(call(1)))
        .isInstanceOf(UpstreamException.TimedOut.class);
  }

  @Test
  void whenJsonDoesNotEndShouldTimeOut() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n");
          wire.write("Content-Length: 1000\r\n\r\n{\"jsonrpc\"").stall();
        });
    UpstreamSession session = fixture.session(server, timeouts(SHORT, LONG));

    // when, then
    assertThatThrownBy(() -> session.request(call(1)))
        .isInstanceOf(UpstreamException.TimedOut.class);
  }

  @Test
  void whenJsonIsCutOffShouldBeBroken() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n");
          wire.write("Content-Length: 1000\r\n\r\n{\"jsonrpc\"").close();
        });
    UpstreamSession session = fixture.session(server);

    // when, then
    assertThatThrownBy(() -> session.request(call(1))).isInstanceOf(UpstreamException.Broken.class);
  }

  @Test
  void whenJsonIsEndlessShouldBeTooLarge() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[");
          while (true) {
            wire.write(" ".repeat(8192));
          }
        });
    UpstreamSession session = fixture.session(server);

    // when
    assertThatThrownBy(() -> session.request(call(1)))
        .isInstanceOf(UpstreamException.TooLarge.class)
        .hasMessageContaining("more than 1")
        .hasMessageContaining("(1048576 bytes)");

    // then the connection is not left open
    await().until(() -> server.connections() == 0);
  }

  @Test
  void whenInterruptedShouldDisconnectAndKeepFlag() throws Exception {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.stall());
    UpstreamSession session = fixture.session(server);
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    CompletableFuture<Boolean> flag = new CompletableFuture<>();
    Thread caller =
        Thread.ofVirtual()
            .start(() -> {
              try {
                session.request(call(1));
              } catch (UpstreamException e) {
                flag.complete(Thread.currentThread().isInterrupted());
                thrown.complete(e);
              }
            });
    await().until(() -> server.requests().size() == 1);

    // when
    caller.interrupt();

    // then
    assertThat(thrown).succeedsWithin(LONG).isInstanceOf(UpstreamException.Broken.class);
    assertThat(flag.join()).isTrue();
  }

  @Test
  void shouldEndTheSession() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(200, "", ""));

    // when
    fixture.session(server).end();

    // then
    assertThat(server.requests().getFirst().method()).isEqualTo("DELETE");
    assertThat(server.requests().getFirst().header("mcp-session-id")).isEqualTo("up-1");
  }

  @ParameterizedTest
  @ValueSource(ints = {404, 405, 500})
  void whenServerRefusesToEndSessionShouldIgnoreIt(int status) {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(status, "", ""));

    // when
    fixture.session(server).end();

    // then
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void whenServerDropsDeleteShouldIgnoreIt() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.reset());

    // when
    fixture.session(server).end();

    // then
    assertThat(server.requests()).hasSize(1);
  }

  /** The server's call may last for an hour: a dead network must show before. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void shouldProbeSilentConnections() throws Exception {
    ScriptedServer server = fixture.server((request, wire) -> wire.beginEvents().stall());
    MessageSource source = fixture.call(fixture.session(server));

    String port = "%04X".formatted(server.url().getPort());
    // Columns: number, local and remote address, state, queues, kind and time of the timer.
    Pattern probed = Pattern.compile(" +\\d+: \\w+:\\w+ \\w+:" + port + " 01 \\S+ 02:(\\w+) .*");
    List<String> sockets = new ArrayList<>();
    for (String table : List.of("tcp", "tcp6")) {
      sockets.addAll(Files.readAllLines(Path.of("/proc/net", table)));
    }
    assertThat(sockets.stream().map(probed::matcher).filter(Matcher::matches).toList())
        .singleElement()
        .satisfies(
            socket -> assertThat(Integer.parseInt(socket.group(1), 16)).isLessThanOrEqualTo(1500));
    source.close();
  }

  @Test
  void shouldNameTheLimitOfASilentCall() {
    ScriptedServer quiet = fixture.server((request, wire) -> wire.beginEvents().stall());
    ScriptedServer late = fixture.server((request, wire) -> wire.stall());
    MessageSource source = fixture.call(fixture.session(quiet, timeouts(LONG, SHORT)));
    UpstreamSession unanswered = fixture.session(late, timeouts(SHORT, LONG));

    assertThat(catchThrowableOfType(UpstreamException.TimedOut.class, source::take).key())
        .contains("upstream.idle-timeout");
    assertThatThrownBy(() -> unanswered.request(call(1)))
        .hasMessageContaining("upstream.first-byte-timeout");
  }

  /** A client that cancels, or ends its session, leaves no line about the server. */
  @Test
  void shouldNotLogAnEndedWaitAsAFailureOfTheServer() throws Exception {
    ScriptedServer server = fixture.server((request, wire) -> wire.stall());
    try (UpstreamMonitor monitor = new UpstreamMonitor();
        LoggedLines log = new LoggedLines(UpstreamMonitor.class)) {
      HttpUpstream upstream = fixture.upstream(UpstreamFixture.settings(server.url()));
      UpstreamSession session =
          ObservedUpstream.of(upstream, List.of(monitor.watch("web", Optional::empty)))
              .attach(UpstreamFixture.LINK);
      CompletableFuture<Throwable> thrown = new CompletableFuture<>();
      Thread calling =
          Thread.ofVirtual()
              .start(() -> thrown.complete(catchThrowable(() -> session.request(call(1)))));
      await().until(() -> !server.requests().isEmpty());

      calling.interrupt();

      assertThat(thrown.get()).isInstanceOf(UpstreamException.Broken.class);
      assertThat(log.lines()).isEmpty();
    }
  }
}
