package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.call;
import static dev.holdfast.upstream.http.UpstreamFixture.event;
import static dev.holdfast.upstream.http.UpstreamFixture.notification;
import static dev.holdfast.upstream.http.UpstreamFixture.response;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Messages that are larger than the limit of {@link UpstreamFixture}, 1 MiB. */
@Timeout(60)
class OversizedEventTest {

  private static final String LARGE = "x".repeat(1_500_000);
  private static final String LARGE_RESULT =
      "{\"result\":\"" + LARGE + "\",\"jsonrpc\":\"2.0\",\"id\":1}";
  private static final String LARGE_NOTIFICATION =
      "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":[\"" + LARGE + "\"]}";

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  @Test
  void responseShouldFailItsCall() {
    MessageSource source =
        fixture.call(
            fixture.session(
                fixture.server((request, wire) ->
                    wire.beginEvents()
                        .chunk(event(notification(1)) + event(LARGE_RESULT))
                        .endChunks())));

    assertThat(texts(source.take())).containsExactly(notification(1));
    assertTooLarge(source::take, "response of " + LARGE_RESULT.length() + " bytes exceeds");
  }

  @Test
  void notificationShouldBeDropped() {
    MessageSource source =
        fixture.call(
            fixture.session(
                fixture.server((request, wire) ->
                    wire.beginEvents()
                        .chunk(event(notification(1)))
                        .chunk(event(LARGE_NOTIFICATION))
                        .chunk(event(notification(2)) + event(response(1)))
                        .endChunks())));

    assertThat(texts(takeAll(source)))
        .containsExactly(notification(1), notification(2), response(1));
  }

  /** The stream resumes after it. */
  @Test
  void idOfADroppedNotificationShouldBeTheCursor() {
    ScriptedServer server =
        fixture.server(
            (request, wire) -> wire.beginEvents().chunk(event("7", LARGE_NOTIFICATION)).endChunks(),
            (request, wire) -> wire.beginEvents().chunk(event(response(1))).endChunks());
    MessageSource source = fixture.call(fixture.session(server));

    assertThat(texts(takeAll(source))).containsExactly(response(1));
    assertThat(server.requests().getLast().header("last-event-id")).isEqualTo("7");
  }

  /** The server waits for its answer. */
  @Test
  void requestOfTheServerShouldBeRefused() {
    CountDownLatch refused = new CountDownLatch(1);
    ScriptedServer server =
        fixture.server((request, wire) -> {
          if (request.body().contains("\"error\"")) {
            wire.answer(202, "", "");
            refused.countDown();
            return;
          }
          wire.beginEvents()
              .chunk(event("{\"id\":\"ask\",\"method\":\"x\",\"params\":[\"" + LARGE + "\"]}"));
          refused.await();
          wire.chunk(event(response(1))).endChunks();
        });
    MessageSource source = fixture.call(fixture.session(server));

    assertThat(texts(takeAll(source))).containsExactly(response(1));
    assertThat(server.requests().getLast().body())
        .contains("\"id\":\"ask\"", "-32600", "longer than 1048576 bytes");
  }

  @Test
  void shouldFailOneCallOfABatch() {
    UpstreamSession session =
        fixture.session(
            fixture.server((request, wire) ->
                wire.beginEvents().chunk(event(LARGE_RESULT) + event(response(2))).endChunks()));
    String batch =
        "[%s,%s]".formatted(new String(call(1).bytes(), UTF_8), new String(call(2).bytes(), UTF_8));
    try (MessageSource source = session.request(UpstreamFixture.body(batch)).source()) {
      List<UpstreamMessage> taken = takeAll(source);

      assertThat(texts(taken).getFirst())
          .startsWith("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":")
          .contains(
              LARGE_RESULT.length() + " bytes", "1048576", "holdfast.limits.server-message-bytes");
      assertThat(taken.getFirst().failure()).isNotNull();
      assertThat(texts(taken).getLast()).isEqualTo(response(2));
    }
  }

  @Test
  void jsonAnswerShouldFailItsCall() {
    UpstreamSession session =
        fixture.session(
            fixture.server(
                (request, wire) -> wire.answer(200, "application/json", LARGE_RESULT),
                (request, wire) ->
                    wire.write(
                            String.join(
                                "\r\n",
                                "HTTP/1.1 200 OK",
                                "Content-Type: application/json",
                                "Transfer-Encoding: chunked",
                                "",
                                ""))
                        .chunk(LARGE_RESULT)
                        .endChunks(),
                (request, wire) -> wire.answer(200, "application/json", response(3))));

    assertTooLarge(
        () -> session.request(call(1)), "response of " + LARGE_RESULT.length() + " bytes exceeds");
    assertTooLarge(() -> session.request(call(2)), "response of more than 1");
    assertThat(session.request(call(3))).isInstanceOf(Answer.Json.class);
  }

  @Test
  void standaloneStreamShouldGoOn() {
    MessageSource source =
        fixture
            .session(
                fixture.server((request, wire) ->
                    wire.beginEvents()
                        .chunk(event(LARGE_NOTIFICATION) + event(LARGE_RESULT))
                        .chunk(event(notification(1)))
                        .stall()))
            .listen(null)
            .orElseThrow();
    try (source) {
      assertThat(texts(UpstreamFixture.take(source, 1))).containsExactly(notification(1));
    }
  }

  @Test
  void overHttpWithSseShouldFailItsCallAlone() throws Exception {
    LegacyServer server = fixture.closing(new LegacyServer());
    LegacyUpstream upstream = fixture.legacy(UpstreamFixture.settings(server.url()), false);
    UpstreamLink link =
        Objects.requireNonNull(upstream.initialize(UpstreamFixture.initialize()).link());
    UpstreamSession session = upstream.attach(link);
    try (MessageSource call = session.request(call(1)).source();
        MessageSource other = session.request(call(2)).source()) {

      server.say(LARGE_NOTIFICATION);
      server.say(LARGE_RESULT);
      server.say(response(2));

      assertTooLarge(call::take, "response of " + LARGE_RESULT.length() + " bytes exceeds");
      assertThat(texts(takeAll(other))).containsExactly(response(2));
    }
    try (MessageSource next = session.request(call(3)).source()) {
      server.say(response(3));
      assertThat(texts(takeAll(next))).containsExactly(response(3));
    }
  }

  /** Two streams carry large events at the same time, and there is memory for one of them. */
  @Test
  void whenMemoryIsShortShouldFailTheCall() {
    ByteBudget budget = new ByteBudget(700_000);
    String half = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"" + "x".repeat(400_000);
    CountDownLatch failed = new CountDownLatch(1);
    ScriptedServer server =
        fixture.server(
            (request, wire) -> {
              wire.beginEvents().chunk("data: " + half);
              failed.await();
              wire.chunk("\"}\n\n").endChunks();
            },
            (request, wire) -> wire.beginEvents().chunk(event(half + "\"}")).endChunks());
    Vertx vertx = Vertx.vertx();
    fixture.closing(() -> vertx.close().toCompletionStage().toCompletableFuture().join());
    HttpUpstreamSettings settings = UpstreamFixture.settings(server.url());
    UpstreamSession session =
        fixture
            .closing(new HttpUpstream(new HttpClients(vertx, settings, budget), settings))
            .attach(UpstreamFixture.LINK);

    try (MessageSource first = session.request(call(1)).source()) {
      assertThat(first.whenArrived(() -> {})).isIn(true, false);
      Thread reader = Thread.ofVirtual().start(() -> assertThat(first.take()).hasSize(1));
      await().until(() -> budget.taken() > 350_000);
      try (MessageSource second = session.request(call(1)).source()) {
        assertTooLarge(second::take, "exceeds the memory that other messages leave");
      }
      failed.countDown();
      await().until(() -> !reader.isAlive());
      // Counted until its reader wants more.
      assertThat(budget.taken()).isGreaterThan(350_000);
    }
    await().until(() -> budget.taken() == 0);
  }

  private static void assertTooLarge(ThrowingCallable work, String part) {
    assertThatExceptionOfType(UpstreamException.TooLarge.class)
        .isThrownBy(work)
        .withMessageContaining(part)
        .withMessageContaining("holdfast.limits.server-message-bytes (1048576 bytes)");
  }
}
