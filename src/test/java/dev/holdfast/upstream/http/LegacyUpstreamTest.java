package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.headers;
import static dev.holdfast.upstream.http.UpstreamFixture.initialize;
import static dev.holdfast.upstream.http.UpstreamFixture.notification;
import static dev.holdfast.upstream.http.UpstreamFixture.response;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static dev.holdfast.upstream.http.UpstreamFixture.timeouts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions over HTTP+SSE, also when their connection is lost. */
@Timeout(60)
class LegacyUpstreamTest {

  @RegisterExtension final UpstreamFixture fixture = new UpstreamFixture();

  private LegacyServer server;

  @BeforeEach
  void start() {
    server = fixture.closing(new LegacyServer());
  }

  @Test
  void shouldPostToEndpointAndReadAnswersFromStream() throws Exception {
    HttpUpstreamSettings settings = headers(Map.of("x-key", "k")).apply(settings(server.url()));
    LegacyUpstream upstream = fixture.legacy(settings, false);

    UpstreamSession session = open(upstream);
    MessageSource call = call(session, 1);
    server.say(notification(1));
    server.say(response(1));

    assertThat(texts(takeAll(call))).containsExactly(notification(1), response(1));
    assertThat(server.requests())
        .extracting(ScriptedRequest::method, ScriptedRequest::target)
        .containsExactly(
            tuple("GET", "/mcp"),
            tuple("POST", "/messages?session=1"),
            tuple("POST", "/messages?session=1"));
    assertThat(server.requests()).extracting(each -> each.header("x-key")).containsOnly("k");
  }

  @Test
  void shouldAnswerOtherRequestsWithJson() throws Exception {
    UpstreamSession session = open(upstream());
    server.whenPosted =
        (_, wire) -> {
          // Before the answer to the POST, as many servers do.
          server.say(response(7));
          wire.answer(202, "", "");
        };

    Answer answer = session.request(body("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x/list\"}"));

    assertThat(answer).isInstanceOf(Answer.Json.class);
  }

  @Test
  void shouldRouteOtherMessagesToStandaloneStream() throws Exception {
    UpstreamSession session = open(upstream());

    server.say(notification(1));
    MessageSource standalone = session.listen(null).orElseThrow();

    assertThat(texts(standalone.take())).containsExactly(notification(1));
  }

  @Test
  void shouldRefuseToPostToAnotherOrigin() {
    server.whenAsked = (_, wire) -> server.begin(wire, "http://localhost:1/messages");

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> upstream().initialize(initialize()))
        .withMessageContaining("origin");
    assertThat(server.posts()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 500, 503})
  void shouldFailOnlyRefusedRequest(int status) throws Exception {
    UpstreamSession session = open(upstream());
    MessageSource other = call(session, 1);
    server.whenPosted = (_, wire) -> wire.answer(status, "text/plain", "no");

    assertThatExceptionOfType(UpstreamException.Refused.class)
        .isThrownBy(() -> session.request(UpstreamFixture.call(2)))
        .satisfies(refused -> assertThat(refused.status()).isEqualTo(status));

    server.say(response(1));
    assertThat(texts(takeAll(other))).containsExactly(response(1));
  }

  /** Servers of the JVM answer the POST only when the call is done, which may need its client. */
  @Test
  void shouldReadTheStreamBeforeTheServerAnswersThePost() throws Exception {
    String question = "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\"}";
    String answer = "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{\"action\":\"accept\"}}";
    UpstreamSession session = open(upstream());
    CountDownLatch seen = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    server.whenPosted =
        (request, wire) -> {
          if (request.body().equals(answer)) {
            answered.countDown();
          } else {
            server.say(notification(1));
            seen.await();
            server.say(question);
            answered.await();
            server.say(response(1));
          }
          wire.answer(200, "", "");
        };

    MessageSource call = call(session, 1);
    assertThat(texts(call.take())).containsExactly(notification(1));
    seen.countDown();
    assertThat(texts(call.take())).containsExactly(question);
    session.send(body(answer));

    assertThat(texts(takeAll(call))).containsExactly(response(1));
  }

  /** The answer to the POST of a call, after its first message was read. */
  private MessageSource callAnsweredLate(String first, ScriptedServer.Script answer) {
    UpstreamSession session = open(upstream());
    CountDownLatch read = new CountDownLatch(1);
    server.whenPosted =
        (request, wire) -> {
          server.say(first);
          read.await();
          answer.play(request, wire);
        };
    MessageSource call = call(session, 1);
    assertThat(texts(call.take())).containsExactly(first);
    read.countDown();
    return call;
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 404, 500})
  void shouldEndACallThatTheServerRefusesLate(int status) {
    MessageSource call =
        callAnsweredLate(notification(1), (_, wire) -> wire.answer(status, "text/plain", "no"));

    assertThatThrownBy(() -> takeAll(call))
        .isInstanceOfAny(UpstreamException.Refused.class, UpstreamException.SessionGone.class);
  }

  @Test
  void shouldIgnoreARefusalAfterTheResponse() {
    MessageSource call =
        callAnsweredLate(response(1), (_, wire) -> wire.answer(500, "text/plain", "no"));

    await().until(() -> server.connections() == 1);
    assertThat(takeAll(call)).isEmpty();
  }

  /** A proxy may cut the POST off; the stream shows that the server has the call. */
  @Test
  void shouldIgnoreALostAnswerOfACallThatRuns() throws Exception {
    MessageSource call = callAnsweredLate(notification(1), (_, wire) -> wire.reset());

    await().until(() -> server.connections() == 1);
    server.say(response(1));

    assertThat(texts(takeAll(call))).containsExactly(response(1));
  }

  /** A proxy that waits for the answer of the POST may give up before the call has ended. */
  @ParameterizedTest
  @ValueSource(ints = {408, 502, 503, 504})
  void shouldIgnoreTheAnswerOfAProxyForACallThatRuns(int status) throws Exception {
    MessageSource call =
        callAnsweredLate(notification(1), (_, wire) -> wire.answer(status, "text/html", "slow"));

    await().until(() -> server.connections() == 1);
    server.say(response(1));

    assertThat(texts(takeAll(call))).containsExactly(response(1));
  }

  /** The POST has a thread of its own. */
  @Test
  void shouldTellTheServerOfTheTraceOfTheCaller() {
    ThreadLocal<String> trace = ThreadLocal.withInitial(() -> "none");
    HttpUpstreamSettings traced =
        UpstreamFixture.traceHeaders(
                () -> trace.get().equals("none") ? Map.of() : Map.of("traceparent", trace.get()))
            .apply(settings(server.url()));
    UpstreamSession session = open(fixture.legacy(traced, false));

    trace.set("of this thread");
    call(session, 1);

    assertThat(server.posts().getLast().header("traceparent")).isEqualTo("of this thread");
  }

  @Test
  void shouldEndSessionUnknownToServer() throws Exception {
    LegacyUpstream upstream = upstream();
    UpstreamSession session = open(upstream);
    MessageSource other = call(session, 1);
    server.whenPosted = (_, wire) -> wire.answer(404, "text/plain", "no");

    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(() -> session.send(body(notification(1))));

    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(() -> takeAll(other));
    assertIsGone(upstream);
  }

  @Test
  void shouldFailOpenCallsWhenTheConnectionIsLost() throws Exception {
    LegacyUpstream upstream = upstream();
    UpstreamLink link = link(upstream);
    UpstreamSession session = upstream.attach(link);
    MessageSource call = call(session, 1);

    server.stream().chunk("data: {\"jsonrpc\":");
    server.stream().reset();

    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(() -> takeAll(call));
    assertIsGone(upstream);
    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(() -> upstream.attach(link).request(UpstreamFixture.call(2)));
    assertThat(server.gets()).hasSize(1);
  }

  @Test
  void shouldResumeAConnectionWhoseEventsHaveIds() throws Exception {
    UpstreamSession session = open(upstream());
    MessageSource call = call(session, 1);
    server.stream().chunk("retry: 10\n\n");
    server.say("e-1", notification(1));
    assertThat(texts(call.take())).containsExactly(notification(1));

    server.stream().reset();
    server.awaitStreams(2);
    server.say("e-2", response(1));

    assertThat(texts(takeAll(call))).containsExactly(response(1));
    assertThat(server.gets().getLast().header("last-event-id")).isEqualTo("e-1");
  }

  @Test
  void shouldFailOpenCallsWhenTheServerBeginsAnotherSession() throws Exception {
    LegacyUpstream upstream = upstream();
    MessageSource call = call(open(upstream), 1);
    server.stream().chunk("retry: 10\n\n");
    server.say("e-1", notification(1));
    assertThat(texts(call.take())).containsExactly(notification(1));
    server.whenAsked = (_, wire) -> server.begin(wire, "/messages?session=2");

    server.stream().reset();

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> takeAll(call))
        .withMessageContaining("another session");
    assertIsGone(upstream);
  }

  @Test
  void shouldReopenLostSession() throws Exception {
    LegacyUpstream upstream = fixture.legacy(settings(server.url()), true);
    UpstreamLink link = link(upstream);
    server.stream().reset();
    assertIsGone(upstream);
    server.whenAsked = (_, wire) -> server.begin(wire, "/messages?session=2");

    upstream.reopen(link, initialize(), true);

    MessageSource call = call(upstream.attach(link), 1);
    server.say(response(1));
    assertThat(texts(takeAll(call))).containsExactly(response(1));
    assertThat(server.posts())
        .extracting(ScriptedRequest::target)
        .containsExactly(
            "/messages?session=1",
            "/messages?session=2",
            "/messages?session=2",
            "/messages?session=2");
    assertThat(server.posts().get(2).body()).contains("notifications/initialized");
  }

  @Test
  void shouldEndASessionByClosingItsConnection() {
    LegacyUpstream upstream = upstream();
    UpstreamSession session = open(upstream);

    session.end();

    assertIsGone(upstream);
    await().until(() -> server.connections() <= 1); // The POST's may be kept for the next one.
  }

  @Test
  void shouldBeBusyAtMaxSessions() {
    LegacyUpstream upstream = upstream();
    UpstreamSession first = open(upstream);
    open(upstream);

    assertThatExceptionOfType(UpstreamException.Busy.class).isThrownBy(() -> open(upstream));

    first.end();
    await().until(() -> upstream.channels() == 1);
    open(upstream);
  }

  @Test
  void shouldReportUnreachableServer() throws IOException {
    URI nowhere;
    try (ServerSocket closed = new ServerSocket(0)) {
      nowhere = URI.create("http://127.0.0.1:" + closed.getLocalPort() + "/sse");
    }

    assertThatExceptionOfType(UpstreamException.Unreachable.class)
        .isThrownBy(() -> fixture.legacy(settings(nowhere), false).initialize(initialize()));
  }

  @Test
  void shouldReportRefusedStream() {
    server.whenAsked = (_, wire) -> wire.answer(503, "text/plain", "no");

    assertThatExceptionOfType(UpstreamException.Refused.class)
        .isThrownBy(() -> upstream().initialize(initialize()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldBoundWaitForEndpoint(boolean begun) {
    server.whenAsked =
        (_, wire) -> {
          if (begun) {
            wire.beginEvents().chunk(": nothing yet\n\n");
          }
          wire.stall();
        };
    HttpUpstreamSettings settings =
        timeouts(Duration.ofMillis(100), Duration.ofSeconds(10)).apply(settings(server.url()));
    LegacyUpstream upstream = fixture.legacy(settings, false);

    // On a busy machine even the connection may take longer than the timeout.
    assertThatThrownBy(() -> upstream.initialize(initialize()))
        .isInstanceOfAny(UpstreamException.TimedOut.class, UpstreamException.Unreachable.class);
    assertIsGone(upstream);
    await().until(() -> server.connections() == 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"event: endpoint\ndata: http://[\n\n", "event: endpoint\ndata: /a b\n\n"})
  void shouldRefuseAnEndpointThatIsNoUri(String event) {
    server.whenAsked = (_, wire) -> wire.beginEvents().chunk(event).stall();

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> upstream().initialize(initialize()))
        .withMessageContaining("no URI");
  }

  @Test
  void shouldRefuseAnswerWithoutStream() {
    server.whenAsked = (_, wire) -> wire.answer(200, "text/html", "<html>");

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> upstream().initialize(initialize()));
  }

  @Test
  void shouldFailOnEndlessLine() throws Exception {
    LegacyUpstream upstream = upstream();
    MessageSource call = call(open(upstream), 1);

    Thread.ofVirtual().start(this::babble);

    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(() -> takeAll(call));
    assertIsGone(upstream);
  }

  private void babble() {
    try {
      server.stream().chunk("data: ");
      for (int i = 0; i < 64; i++) {
        server.stream().chunk("x".repeat(1 << 16));
      }
    } catch (IOException cutOff) {
      // The upstream has closed the connection.
    }
  }

  @Test
  void shouldIgnoreInvalidMessages() throws Exception {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      MessageSource call = call(open(upstream()), 1);

      server.say("garbage");
      server.say(response(1));

      assertThat(texts(takeAll(call))).containsExactly(response(1));
      log.await("message ignored, not JSON-RPC, no line for further ones upstream=");
    }
  }

  @Test
  void shouldCancelTimedOutRequest() throws Exception {
    HttpUpstreamSettings settings =
        timeouts(Duration.ofSeconds(10), Duration.ofMillis(100)).apply(settings(server.url()));
    MessageSource call = call(open(fixture.legacy(settings, false)), 1);

    assertThatExceptionOfType(UpstreamException.TimedOut.class).isThrownBy(() -> takeAll(call));

    server.awaitPost("notifications/cancelled");
  }

  private LegacyUpstream upstream() {
    return fixture.legacy(settings(server.url()), false);
  }

  private static UpstreamSession open(LegacyUpstream upstream) {
    return upstream.attach(link(upstream));
  }

  private static UpstreamLink link(LegacyUpstream upstream) {
    Handshake handshake = upstream.initialize(initialize());
    return Objects.requireNonNull(handshake.link());
  }

  private static MessageSource call(UpstreamSession session, int id) {
    Answer answer = session.request(UpstreamFixture.call(id));
    assertThat(answer).isInstanceOf(Answer.Stream.class);
    return ((Answer.Stream) answer).source();
  }

  private static void assertIsGone(LegacyUpstream upstream) {
    await().until(() -> upstream.channels() == 0);
  }
}
