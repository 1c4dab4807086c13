package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.answerTimeout;
import static dev.holdfast.upstream.http.UpstreamFixture.event;
import static dev.holdfast.upstream.http.UpstreamFixture.notification;
import static dev.holdfast.upstream.http.UpstreamFixture.stallTimeout;
import static dev.holdfast.upstream.http.UpstreamFixture.take;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static dev.holdfast.upstream.http.UpstreamFixture.timeouts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The standalone stream of a session. */
class StandaloneStreamTest {

  private static final Duration SHORT = Duration.ofMillis(200);
  private static final String RETRY = "retry: 10\n\n";

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  private static ScriptedServer.Script status(int status) {
    return (request, wire) -> wire.answer(status, "", "");
  }

  private static ScriptedServer.Script events(String piece) {
    return (request, wire) -> wire.beginEvents().chunk(piece).endChunks();
  }

  private static ScriptedServer.Script brokenAfter(String piece) {
    return (request, wire) -> wire.beginEvents().chunk(piece).close();
  }

  private MessageSource listen(ScriptedServer server) {
    return fixture.session(server).listen(null).orElseThrow();
  }

  @Test
  void shouldListen() {
    // given
    ScriptedServer server =
        fixture.server(
            (request, wire) -> wire.beginEvents().chunk(event("1", notification(1))).stall());

    // when
    List<UpstreamMessage> messages = listen(server).take();

    // then
    assertThat(texts(messages)).containsExactly(notification(1));
    assertThat(server.requests().getFirst().method()).isEqualTo("GET");
    assertThat(server.requests().getFirst().headers())
        .containsEntry("accept", "text/event-stream")
        .containsEntry("mcp-session-id", "up-1")
        .doesNotContainKeys("last-event-id", "content-type");
  }

  @ParameterizedTest
  @ValueSource(ints = {405, 204})
  void whenTheServerOffersNoStreamShouldBeEmpty(int status) {
    // given
    ScriptedServer server = fixture.server(status(status));

    // when, then
    assertThat(fixture.session(server).listen(null)).isEmpty();
  }

  @Test
  void on404WithoutASessionShouldBeEmpty() {
    // given a server that has no route for GET
    ScriptedServer server = fixture.server(status(404));
    var session =
        fixture
            .upstream(UpstreamFixture.settings(server.url()))
            .attach(new UpstreamLink(null, "2025-11-25"));

    // when, then
    assertThat(session.listen(null)).isEmpty();
  }

  @Test
  void onOtherErrorsShouldBeRefused() {
    // given
    ScriptedServer server = fixture.server(status(500));
    var session = fixture.session(server);

    // when, then
    assertThatThrownBy(() -> session.listen(null)).isInstanceOf(UpstreamException.Refused.class);
  }

  @Test
  void shouldReconnectForEverWithAndWithoutIds() {
    // given more failures than the stream of a call allows
    ScriptedServer server =
        fixture.server(
            brokenAfter(RETRY + event(notification(1))),
            (request, wire) -> wire.close(),
            status(500),
            status(503),
            status(401),
            (request, wire) -> wire.close(),
            brokenAfter(event("b", notification(2))),
            events(event("c", notification(3))),
            (request, wire) -> wire.beginEvents().chunk(event("d", notification(4))).stall());

    // when
    List<UpstreamMessage> messages = take(listen(server), 4);

    // then
    assertThat(texts(messages))
        .containsExactly(notification(1), notification(2), notification(3), notification(4));
    assertThat(server.requests())
        .extracting(request -> request.header("last-event-id"))
        .containsExactly(null, null, null, null, null, null, null, "b", "c");
  }

  /** Guards against a loop: 410 means that the events after the cursor are purged for ever. */
  @ParameterizedTest
  @ValueSource(ints = {400, 410})
  void whenCursorIsUnknownShouldContinueWithoutIt(int status) {
    // given
    ScriptedServer server =
        fixture.server(
            brokenAfter("retry: 10\n" + event("a", notification(1))),
            status(status),
            (request, wire) -> wire.beginEvents().chunk(event("z", notification(2))).stall());

    // when
    List<UpstreamMessage> messages = take(listen(server), 2);

    // then
    assertThat(texts(messages)).containsExactly(notification(1), notification(2));
    assertThat(server.requests())
        .extracting(request -> request.header("last-event-id"))
        .containsExactly(null, "a", null);
  }

  @Test
  void whenServerReplaysNothingShouldContinueWithoutCursor() {
    // given
    ScriptedServer server =
        fixture.server(
            brokenAfter("retry: 10\n" + event("a", notification(1))),
            events(""),
            events(""),
            (request, wire) -> wire.beginEvents().chunk(event("z", notification(2))).stall());

    // when
    List<UpstreamMessage> messages = take(listen(server), 2);

    // then
    assertThat(texts(messages)).containsExactly(notification(1), notification(2));
    assertThat(server.requests())
        .extracting(request -> request.header("last-event-id"))
        .containsExactly(null, "a", "a", null);
  }

  /** A quiet stream ends after a while, as many servers and proxies do it. */
  @Test
  void whenQuietStreamIsClosedShouldKeepCursor() {
    // given connections that last for longer than the time that counts as "at once"
    CountDownLatch never = new CountDownLatch(1);
    ScriptedServer.Script quiet =
        (request, wire) -> {
          wire.beginEvents();
          assertThat(never.await(SHORT.multipliedBy(2).toMillis(), TimeUnit.MILLISECONDS))
              .isFalse();
          wire.endChunks();
        };
    ScriptedServer server =
        fixture.server(
            brokenAfter("retry: 10\n" + event("a", notification(1))),
            quiet,
            quiet,
            (request, wire) -> wire.beginEvents().chunk(event("b", notification(2))).stall());
    var session = fixture.session(server, answerTimeout(SHORT));

    // when
    List<UpstreamMessage> messages = take(session.listen(null).orElseThrow(), 2);

    // then
    assertThat(texts(messages)).containsExactly(notification(1), notification(2));
    assertThat(server.requests())
        .extracting(request -> request.header("last-event-id"))
        .containsExactly(null, "a", "a", "a");
  }

  @Test
  void whenResumptionIsNotAnsweredShouldBeginAnew() {
    // given
    ScriptedServer server =
        fixture.server(
            (request, wire) -> wire.stall(),
            (request, wire) -> wire.beginEvents().chunk(event("z", notification(2))).stall());
    var session = fixture.session(server, answerTimeout(SHORT));

    // when
    MessageSource source = session.listen("a").orElseThrow();

    // then
    assertThat(texts(source.take())).containsExactly(notification(2));
    assertThat(server.requests())
        .extracting(request -> request.header("last-event-id"))
        .startsWith("a", null);
  }

  /** After a machine has slept, a dead connection shows no error. */
  @Test
  void whenConnectionStallsShouldReconnect() {
    // given
    ScriptedServer server =
        fixture.server(
            (request, wire) ->
                wire.beginEvents().chunk("retry: 10\n" + event("a", notification(1))).stall(),
            (request, wire) -> wire.beginEvents().chunk(event("b", notification(2))).stall());
    var session = fixture.session(server, stallTimeout(SHORT));

    // when
    List<UpstreamMessage> messages = take(session.listen(null).orElseThrow(), 2);

    // then
    assertThat(texts(messages)).containsExactly(notification(1), notification(2));
    assertThat(server.requests())
        .extracting(request -> request.header("last-event-id"))
        // A slow machine may take the second connection for stalled, too.
        .startsWith(null, "a");
  }

  @Test
  void shouldReportRetryAfter() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> wire.answer(503, "", "", "Retry-After: 7"));
    var session = fixture.session(server);

    // when, then
    assertThatThrownBy(() -> session.listen(null))
        .isInstanceOfSatisfying(
            UpstreamException.Refused.class,
            refused -> assertThat(refused.retryAfter()).contains(Duration.ofSeconds(7)));
  }

  @Test
  void whenServerStopsOfferingStreamShouldEnd() {
    // given
    ScriptedServer server = fixture.server(events(RETRY + event(notification(1))), status(405));

    // when, then
    assertThat(texts(takeAll(listen(server)))).containsExactly(notification(1));
  }

  @Test
  void whenSessionIsGoneShouldReportIt() {
    // given
    ScriptedServer server = fixture.server(events(RETRY), status(404));
    MessageSource source = listen(server);

    // when, then
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.SessionGone.class);
    assertThat(source.take()).isEmpty();
  }

  @Test
  void shouldNotTimeOutWhenSilent() throws Exception {
    // given a server that is silent for longer than the idle timeout of a call
    CountDownLatch released = new CountDownLatch(1);
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents();
          released.await();
          wire.chunk(event(notification(1))).stall();
        });
    MessageSource source =
        fixture.session(server, timeouts(Duration.ofSeconds(10), SHORT)).listen(null).orElseThrow();
    CompletableFuture<List<UpstreamMessage>> taking = CompletableFuture.supplyAsync(source::take);

    // when
    assertThat(released.await(SHORT.multipliedBy(3).toMillis(), TimeUnit.MILLISECONDS)).isFalse();
    assertThat(taking).isNotDone();
    released.countDown();

    // then
    assertThat(taking).succeedsWithin(Duration.ofSeconds(10));
  }

  @Test
  void whenUpstreamIsClosedShouldNotReconnect() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> wire.beginEvents().chunk(RETRY).stall());
    HttpUpstream upstream = fixture.upstream(UpstreamFixture.settings(server.url()));
    MessageSource source = upstream.attach(UpstreamFixture.LINK).listen(null).orElseThrow();
    CompletableFuture<List<UpstreamMessage>> taking = CompletableFuture.supplyAsync(source::take);
    await().until(() -> server.requests().size() == 1);

    // when
    upstream.close();

    // then
    UpstreamFixture.assertBroken(taking);
    assertThat(server.requests()).hasSize(1);
  }
}
