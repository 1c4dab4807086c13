package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.event;
import static dev.holdfast.upstream.http.UpstreamFixture.notification;
import static dev.holdfast.upstream.http.UpstreamFixture.response;
import static dev.holdfast.upstream.http.UpstreamFixture.take;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static dev.holdfast.upstream.http.UpstreamFixture.timeouts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of calls over several connections. */
class SseStreamResumeTest {

  private static final Duration SHORT = Duration.ofMillis(400);
  private static final Duration LONG = Duration.ofSeconds(10);

  /** An event that keeps the waits between connections short and gives a first cursor. */
  private static final String PRIMING = "retry: 10\nid: p\ndata:\n\n";

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  private static ScriptedServer.Script close() {
    return (request, wire) -> wire.close();
  }

  private static ScriptedServer.Script status(int status) {
    return (request, wire) -> wire.answer(status, "", "");
  }

  /** Sends the parts and closes the stream in order. */
  private static ScriptedServer.Script events(String... pieces) {
    return (request, wire) -> {
      wire.beginEvents();
      for (String piece : pieces) {
        wire.chunk(piece);
      }
      wire.endChunks();
    };
  }

  /** Sends the text and breaks the connection. */
  private static ScriptedServer.Script brokenAfter(String piece) {
    return (request, wire) -> wire.beginEvents().chunk(piece).close();
  }

  private static List<String> cursors(ScriptedServer server) {
    return server.requests().stream()
        .skip(1)
        .map(request -> request.header("last-event-id"))
        .toList();
  }

  /** Gets a token, and another one after each refusal. */
  private static final class RenewedToken implements Credentials {

    private final AtomicInteger number = new AtomicInteger(1);

    @Override
    public String authorization(ClientSession caller, boolean asked) {
      return "Bearer " + number;
    }

    @Override
    public boolean refused(
        ClientSession caller, @Nullable String authorization, List<String> challenges) {
      number.incrementAndGet();
      return false;
    }
  }

  @Test
  void shouldResumeWithAnotherTokenAfterARefusal() {
    ScriptedServer server =
        fixture.server(
            brokenAfter(PRIMING + event("a", notification(1))),
            status(401),
            events(event("b", response(1))));

    MessageSource source =
        fixture.call(fixture.session(server, UpstreamFixture.credentials(new RenewedToken())));

    assertThat(texts(takeAll(source))).containsExactly(notification(1), response(1));
    assertThat(server.requests())
        .extracting(request -> request.header("authorization"))
        .containsExactly("Bearer 1", "Bearer 1", "Bearer 2");
  }

  @Test
  void shouldResumeAfterLastCompleteEvent() {
    // given a connection that is reset in the middle of an event, whose id must not count
    CountDownLatch taken = new CountDownLatch(1);
    ScriptedServer server =
        fixture.server(
            (request, wire) -> {
              wire.beginEvents().chunk(PRIMING);
              wire.chunk(event("a", notification(1)) + event("b", notification(2)));
              wire.chunk("id: c\ndata: " + notification(3) + "\n");
              taken.await();
              wire.reset();
            },
            events(event("c", notification(3)), event("d", response(1))));
    MessageSource source = fixture.call(fixture.session(server));
    List<UpstreamMessage> messages = take(source, 2);

    // when
    taken.countDown();
    messages.addAll(takeAll(source));

    // then
    assertThat(texts(messages))
        .containsExactly(notification(1), notification(2), notification(3), response(1));
    assertThat(messages).extracting(UpstreamMessage::eventId).containsExactly("a", "b", "c", "d");
    assertThat(cursors(server)).containsExactly("b");
  }

  @Test
  void shouldResumeWithExactlyTheHeadersOfTheSession() {
    // given
    ScriptedServer server = fixture.server(events(PRIMING), events(event(response(1))));

    // when
    takeAll(
        fixture.call(
            fixture.session(server, UpstreamFixture.headers(Map.of("Authorization", "ours")))));

    // then
    ScriptedRequest request = server.requests().getLast();
    assertThat(request.method()).isEqualTo("GET");
    assertThat(request.headers())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "host", server.url().getAuthority(),
                "accept", "text/event-stream",
                "last-event-id", "p",
                "mcp-session-id", "up-1",
                "mcp-protocol-version", "2025-11-25",
                "authorization", "ours"));
  }

  @Test
  void shouldWaitForRetryTimeOfServer() {
    // given
    AtomicLong closed = new AtomicLong();
    AtomicLong back = new AtomicLong();
    ScriptedServer server =
        fixture.server(
            (request, wire) -> {
              wire.beginEvents().chunk("retry: 500\nid: p\ndata:\n\n");
              closed.set(System.nanoTime());
              wire.endChunks();
            },
            (request, wire) -> {
              back.set(System.nanoTime());
              wire.beginEvents().chunk(event(response(1))).endChunks();
            });

    // when
    takeAll(fixture.call(fixture.session(server)));

    // then
    assertThat(Duration.ofNanos(back.get() - closed.get()))
        .isGreaterThanOrEqualTo(Duration.ofMillis(495));
  }

  @Test
  void shouldReconnectAfterEachOrderlyClose() {
    // given more early closes than allowed failures, some without an event
    ScriptedServer.Script[] closes = new ScriptedServer.Script[9];
    Arrays.setAll(closes, i -> i % 2 == 0 ? events(PRIMING) : events());
    ScriptedServer server =
        fixture.server(
            Stream.concat(Arrays.stream(closes), Stream.of(events(event(response(1)))))
                .toArray(ScriptedServer.Script[]::new));

    // when
    List<UpstreamMessage> messages = takeAll(fixture.call(fixture.session(server)));

    // then
    assertThat(texts(messages)).containsExactly(response(1));
    assertThat(server.requests()).hasSize(10);
  }

  @Test
  void pollingShouldEndAtIdleTimeoutAndBackOff() {
    // given a server that closes again and again, without a retry time and without events
    ScriptedServer server =
        fixture.server(events("retry: 0\nid: p\ndata:\n\n"), events("retry: 0\n\n"));
    MessageSource source = fixture.call(fixture.session(server, timeouts(LONG, SHORT)));

    // when, then
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.TimedOut.class);
    assertThat(server.requests()).hasSizeBetween(3, 12);
  }

  /** Servers that poll tell when to come back, or show otherwise that they are at work. */
  @ParameterizedTest
  @ValueSource(strings = {"retry: 10\n\n", ": at work\n\n", "id: p2\n\n", PRIMING})
  void pollingShouldGoOn(String sign) {
    ScriptedServer.Script[] scripts = new ScriptedServer.Script[6];
    Arrays.fill(scripts, events(sign));
    scripts[0] = events(PRIMING);
    scripts[5] = events(event(response(1)));
    ScriptedServer server = fixture.server(scripts);

    assertThat(texts(takeAll(fixture.call(fixture.session(server))))).containsExactly(response(1));
  }

  @Test
  void pollingShouldGoOnWithoutSignsOnceAStreamWasResumed() {
    ScriptedServer server =
        fixture.server(
            brokenAfter(PRIMING),
            events(event("a", notification(1)), event("b", response(1))),
            events(PRIMING),
            events(),
            events(),
            events(),
            events(event(response(1))));
    UpstreamSession session = fixture.session(server);
    takeAll(fixture.call(session));

    assertThat(texts(takeAll(fixture.call(session)))).containsExactly(response(1));
  }

  /** The SDK for Java gives ids, and ends each resumed stream at once. */
  @Test
  void shouldEndCallsOfAServerThatReplaysNothing() {
    ScriptedServer server =
        fixture.server(
            brokenAfter(PRIMING + event("a", notification(1))),
            events(),
            events(),
            brokenAfter(PRIMING),
            events(event("z", notification(2))));
    UpstreamSession session = fixture.session(server);
    MessageSource first = fixture.call(session);
    assertThat(texts(first.take())).containsExactly(notification(1));

    assertNoReplay(first::take);
    assertThat(cursors(server)).containsExactly("a", "a");

    // From now on, without an attempt.
    assertNoReplay(fixture.call(session)::take);
    assertNoReplay(() -> session.resume("a"));
    assertThat(server.requests()).hasSize(4);
    MessageSource standalone = session.listen("a").orElseThrow();
    assertThat(texts(standalone.take())).containsExactly(notification(2));
    assertThat(cursors(server)).last().isNull();
    standalone.close();
  }

  /** An orderly close is an invitation: a server that shut down by mistake may be back. */
  @Test
  void shouldTrustAServerAgainThatResumesAStream() {
    ScriptedServer server =
        fixture.server(
            brokenAfter(PRIMING),
            events(),
            events(),
            events(PRIMING),
            events(event("a", response(1))),
            brokenAfter(PRIMING),
            events(event("a", response(1))));
    UpstreamSession session = fixture.session(server);
    assertNoReplay(fixture.call(session)::take);

    takeAll(fixture.call(session));

    assertThat(texts(takeAll(fixture.call(session)))).containsExactly(response(1));
  }

  /** Spring AI gives ids, and never answers the request for what follows. */
  @Test
  void shouldEndACallWhoseResumptionIsNeverAnswered() {
    ScriptedServer server = fixture.server(brokenAfter(PRIMING), (request, wire) -> wire.stall());
    MessageSource source =
        fixture.call(fixture.session(server, UpstreamFixture.answerTimeout(SHORT)));

    assertNoReplay(source::take);
    assertThat(server.requests()).hasSizeBetween(3, 4);
  }

  private static void assertNoReplay(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(UpstreamException.Broken.class)
        .hasMessageContaining("does not replay");
  }

  @ParameterizedTest
  @ValueSource(ints = {409, 429, 500, 503})
  void shouldRetryTemporaryStatus(int status) {
    // given
    ScriptedServer server =
        fixture.server(events(PRIMING), status(status), close(), events(event(response(1))));

    // when, then
    assertThat(texts(takeAll(fixture.call(fixture.session(server))))).containsExactly(response(1));
    assertThat(cursors(server)).containsExactly("p", "p", "p");
  }

  @Test
  void shouldGiveUpAfterLimitOfFailures() {
    // given
    ScriptedServer server = fixture.server(brokenAfter(PRIMING), close());
    MessageSource source = fixture.call(fixture.session(server));

    // when, then
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.Broken.class);
    assertThat(server.requests()).hasSize(1 + 3);
    assertThat(source.take()).isEmpty();
  }

  @Test
  void progressShouldResetFailures() {
    // given
    ScriptedServer server =
        fixture.server(
            brokenAfter(PRIMING),
            close(),
            close(),
            brokenAfter(event("q", notification(1))),
            close(),
            close(),
            events(event(response(1))));

    // when
    List<UpstreamMessage> messages = takeAll(fixture.call(fixture.session(server)));

    // then
    assertThat(texts(messages)).containsExactly(notification(1), response(1));
    assertThat(cursors(server)).containsExactly("p", "p", "p", "q", "q", "q");
  }

  @Test
  void connectionsWithoutEventsShouldCountAsFailures() {
    // given
    ScriptedServer server = fixture.server(brokenAfter(PRIMING), brokenAfter("id: x\n"));
    MessageSource source = fixture.call(fixture.session(server));

    // when, then
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.Broken.class);
    assertThat(server.requests()).hasSize(1 + 3);
  }

  @Test
  void on404ShouldReportSessionGone() {
    // given
    ScriptedServer server = fixture.server(events(PRIMING), status(404));
    MessageSource source = fixture.call(fixture.session(server));

    // when, then
    assertThatExceptionOfType(UpstreamException.SessionGone.class)
        .isThrownBy(source::take)
        .returns(true, UpstreamException.SessionGone::inCall);
    assertThat(server.requests()).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 405, 410})
  void permanentStatusShouldBeBrokenAtOnce(int status) {
    // given
    ScriptedServer server = fixture.server(events(PRIMING), status(status));
    MessageSource source = fixture.call(fixture.session(server));

    // when, then
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.Broken.class);
    assertThat(server.requests()).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void afterResponseShouldNotReconnect(boolean inOrder) {
    // given ids, so that the stream could be resumed
    ScriptedServer server =
        fixture.server(
            inOrder
                ? events(PRIMING, event("q", response(1)))
                : brokenAfter(PRIMING + event("q", response(1))));

    // when, then
    assertThat(texts(takeAll(fixture.call(fixture.session(server))))).containsExactly(response(1));
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void batchShouldContinueAfterFirstResponse() {
    // given
    ScriptedServer server =
        fixture.server(
            brokenAfter(PRIMING + event("q", response(1))), events(event("r", response(2))));
    String ping = "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}";
    var batch = body("[" + ping.formatted(1) + "," + ping.formatted(2) + "]");

    // when
    var answer = (Answer.Stream) fixture.session(server).request(batch);

    // then
    assertThat(texts(takeAll(answer.source()))).containsExactly(response(1), response(2));
    assertThat(cursors(server)).containsExactly("q");
  }

  @Test
  void anotherReplicaShouldResumeAfterFirst() {
    // given
    ScriptedServer server = fixture.server(brokenAfter(PRIMING), events(event("z", response(1))));

    // when
    MessageSource source = fixture.session(server).resume("y");

    // then
    assertThat(texts(takeAll(source))).containsExactly(response(1));
    assertThat(server.requests())
        .extracting(request -> request.header("last-event-id"))
        .containsExactly("y", "p");
  }

  @Test
  void resumedStreamWithoutEventsShouldKeepCursor() {
    // given
    ScriptedServer server = fixture.server(events("retry: 10\n\n"), events(event(response(1))));

    // when, then
    assertThat(texts(takeAll(fixture.session(server).resume("y")))).containsExactly(response(1));
    assertThat(server.requests())
        .extracting(request -> request.header("last-event-id"))
        .containsExactly("y", "y");
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 405, 409, 500})
  void whenResumeIsRefusedShouldReportStatus(int status) {
    // given
    ScriptedServer server = fixture.server(status(status));
    var session = fixture.session(server);

    // when, then
    assertThatThrownBy(() -> session.resume("y"))
        .isInstanceOfSatisfying(
            UpstreamException.Refused.class,
            refused -> assertThat(refused.status()).isEqualTo(status));
  }

  @ParameterizedTest
  @CsvSource({"200, text/html", "202, ''", "204, ''"})
  void whenResumeIsNoStreamShouldBeBroken(int status, String type) {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(status, type, ""));
    var session = fixture.session(server);

    // when, then
    assertThatThrownBy(() -> session.resume("y")).isInstanceOf(UpstreamException.Broken.class);
  }

  @Test
  void idsShouldTravelAsUtf8() {
    // given
    ScriptedServer server =
        fixture.server(events("retry: 10\nid: ä/€\ndata:\n\n"), events(event(response(1))));

    // when
    takeAll(fixture.call(fixture.session(server)));

    // then the bytes are UTF-8; the fixture reads one character per byte
    assertThat(cursors(server)).containsExactly("Ã¤/â\u0082¬");
  }

  @Test
  void idWithControlCharactersShouldNotBeUsedAsCursor() {
    // given
    ScriptedServer server = fixture.server(brokenAfter("id: \u0001\ndata:\n\n"));
    MessageSource source = fixture.call(fixture.session(server));

    // when, then
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.Broken.class);
    assertThatThrownBy(() -> fixture.session(server).resume("\u0001"))
        .isInstanceOf(UpstreamException.Broken.class);
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void closeShouldWakeReaderThatWaitsToReconnect() {
    // given
    ScriptedServer server = fixture.server(events("retry: 60000\nid: p\ndata:\n\n"));
    MessageSource source = fixture.call(fixture.session(server));
    CompletableFuture<List<UpstreamMessage>> taking = CompletableFuture.supplyAsync(source::take);
    await().until(() -> server.connections() <= 1);

    // when
    source.close();

    // then
    assertThat(taking).succeedsWithin(Duration.ofSeconds(3)).isEqualTo(List.of());
  }

  @Test
  void closeShouldWakeReaderWhileReconnecting() {
    // given
    ScriptedServer server = fixture.server(events(PRIMING), (request, wire) -> wire.stall());
    MessageSource source = fixture.call(fixture.session(server));
    CompletableFuture<List<UpstreamMessage>> taking = CompletableFuture.supplyAsync(source::take);
    await().until(() -> server.requests().size() == 2);

    // when
    source.close();

    // then
    assertThat(taking).succeedsWithin(Duration.ofSeconds(3)).isEqualTo(List.of());
  }
}
