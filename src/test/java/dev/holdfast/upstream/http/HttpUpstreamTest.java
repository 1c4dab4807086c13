package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.call;
import static dev.holdfast.upstream.http.UpstreamFixture.event;
import static dev.holdfast.upstream.http.UpstreamFixture.initialize;
import static dev.holdfast.upstream.http.UpstreamFixture.maxConnections;
import static dev.holdfast.upstream.http.UpstreamFixture.notification;
import static dev.holdfast.upstream.http.UpstreamFixture.response;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpUpstreamTest {

  private static final String JSON = "application/json";

  private static final String RESULT =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\"}}";

  private static final String ERROR =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32602,\"message\":\"no\"}}";

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  private Handshake initializeAt(ScriptedServer server) {
    return fixture.upstream(settings(server.url())).initialize(initialize());
  }

  @Test
  void shouldInitializeWithJson() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> wire.answer(200, JSON, RESULT, "mcp-session-id: s/1~"));

    // when
    Handshake handshake = initializeAt(server);

    // then
    assertThat(handshake.response()).asString().isEqualTo(RESULT);
    assertThat(handshake.link()).isEqualTo(new UpstreamLink("s/1~", "2025-06-18"));
    assertThat(handshake.before()).isEmpty();
    assertThat(server.requests().getFirst().headers())
        .containsEntry("accept", "application/json, text/event-stream")
        .containsEntry("content-type", JSON)
        .doesNotContainKeys("mcp-session-id", "mcp-protocol-version", "authorization");
    assertThat(server.requests().getFirst().body().getBytes(StandardCharsets.UTF_8))
        .isEqualTo(initialize().bytes());
  }

  @Test
  void shouldInitializeWithAStreamThatStaysOpen() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents("Mcp-Session-Id: s2").chunk("id: 0\ndata:\n\n");
          wire.chunk(event(notification(1)) + event("1", RESULT)).stall();
        });

    // when
    Handshake handshake = initializeAt(server);

    // then
    assertThat(handshake.response()).asString().isEqualTo(RESULT);
    assertThat(handshake.link()).isEqualTo(new UpstreamLink("s2", "2025-06-18"));
    assertThat(UpstreamFixture.texts(handshake.before())).containsExactly(notification(1));
    await().until(() -> server.connections() == 0);
  }

  @Test
  void shouldInitializeAcrossABrokenStream() {
    // given
    ScriptedServer server =
        fixture.server(
            (request, wire) -> {
              wire.beginEvents("Mcp-Session-Id: s3");
              wire.chunk("retry: 10\nid: 7\ndata:\n\n").close();
            },
            (request, wire) -> wire.beginEvents().chunk(event(RESULT)).endChunks());

    // when
    Handshake handshake = initializeAt(server);

    // then
    assertThat(handshake.link()).isEqualTo(new UpstreamLink("s3", "2025-06-18"));
    assertThat(server.requests().get(1).headers())
        .containsEntry("mcp-session-id", "s3")
        .containsEntry("last-event-id", "7")
        .doesNotContainKey("mcp-protocol-version");
  }

  @Test
  void withoutSessionIdShouldLinkWithoutOne() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(200, JSON, RESULT));

    // when
    Handshake handshake = initializeAt(server);

    // then
    assertThat(handshake.link()).isEqualTo(new UpstreamLink(null, "2025-06-18"));
  }

  @Test
  void onErrorShouldOpenNoSession() {
    // given
    ScriptedServer server =
        fixture.server(
            (request, wire) -> wire.answer(200, JSON, ERROR, "Mcp-Session-Id: not-attached"));

    // when
    Handshake handshake = initializeAt(server);

    // then
    assertThat(handshake.response()).asString().isEqualTo(ERROR);
    assertThat(handshake.link()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 404, 405, 500})
  void onErrorStatusShouldBeRefused(int status) {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(status, JSON, ERROR));

    // when, then
    assertThatThrownBy(() -> initializeAt(server))
        .isInstanceOfSatisfying(
            UpstreamException.Refused.class,
            refused -> {
              assertThat(refused.status()).isEqualTo(status);
              assertThat(refused.error()).asString().isEqualTo(ERROR);
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"a b\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"0\",\"result\":{\"protocolVersion\":\"2025-06-18\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}",
        "[]",
        "hello"
      })
  void onAnswerWithoutResponseShouldBeBroken(String text) {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.answer(200, JSON, text));

    // when, then
    assertThatThrownBy(() -> initializeAt(server)).isInstanceOf(UpstreamException.Broken.class);
  }

  @Test
  void whenTheStreamEndsWithoutResponseShouldBeBroken() {
    // given
    ScriptedServer server =
        fixture.server(
            (request, wire) -> wire.beginEvents().chunk(event(notification(1))).endChunks());

    // when, then
    assertThatThrownBy(() -> initializeAt(server)).isInstanceOf(UpstreamException.Broken.class);
  }

  @Test
  void shouldRefuseLongSessionId() {
    ScriptedServer server =
        fixture.server((request, wire) ->
            wire.answer(200, "application/json", RESULT, "Mcp-Session-Id: " + "s".repeat(2049)));

    assertThatThrownBy(() -> initializeAt(server))
        .isInstanceOf(UpstreamException.Broken.class)
        .hasMessageContaining("session id");
  }

  /** The messages stay in memory until the response arrives. */
  @Test
  void whenTooManyBytesPrecedeResponseShouldBeBroken() {
    // given
    String params = "n/1\",\"params\":{\"x\":\"" + "x".repeat(500_000) + "\"}";
    String large = notification(1).replace("n/1\"", params);
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents();
          for (int i = 0; i < 10; i++) {
            wire.chunk(event(large));
          }
          wire.chunk(event(RESULT)).endChunks();
        });

    // when, then
    assertThatThrownBy(() -> initializeAt(server))
        .isInstanceOf(UpstreamException.Broken.class)
        .hasMessageContaining("too much");
  }

  /** Otherwise the client would wait as long as the server sends messages. */
  @Test
  void whenResponseNeverComesShouldTimeOut() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents();
          while (true) {
            wire.chunk(": wait\n\n").chunk(event("1", notification(1)));
            Thread.sleep(10);
          }
        });
    HttpUpstreamSettings hurried =
        UpstreamFixture.timeouts(Duration.ofSeconds(2), Duration.ofSeconds(10))
            .apply(settings(server.url()));
    HttpUpstream upstream = fixture.upstream(hurried);

    // when
    var initializing = CompletableFuture.supplyAsync(() -> upstream.initialize(initialize()));

    // then
    assertThat(initializing)
        .failsWithin(Duration.ofSeconds(20))
        .withThrowableThat()
        .withCauseInstanceOf(UpstreamException.TimedOut.class);
  }

  @Test
  void shouldRefuseASessionIdThatIsNotVisibleAscii() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> wire.answer(200, JSON, RESULT, "Mcp-Session-Id: a b"));

    // when, then
    assertThatThrownBy(() -> initializeAt(server)).isInstanceOf(UpstreamException.Broken.class);
  }

  @Test
  void whenClosedShouldFailRunningCallsAndNewOnes() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.stall());
    HttpUpstream upstream = fixture.upstream(settings(server.url()));
    var session = upstream.attach(UpstreamFixture.LINK);
    var running = CompletableFuture.supplyAsync(() -> session.request(call(1)));
    await().until(() -> server.requests().size() == 1);

    // when
    upstream.close();

    // then
    UpstreamFixture.assertBroken(running);
    assertThatThrownBy(() -> session.request(call(2)))
        .isInstanceOf(UpstreamException.Unreachable.class);
  }

  @Test
  void shouldKeepTwoHundredStreamsApart() throws Exception {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> {
          String id = request.body().replaceAll(".*\"id\":(\\d+).*", "$1");
          wire.beginEvents();
          for (int i = 0; i < 20; i++) {
            wire.chunk(event(notification(i)));
          }
          wire.chunk(event(response(Integer.parseInt(id)))).endChunks();
        });
    var session = fixture.session(server);

    // when
    var answers =
        IntStream.range(0, 200)
            .mapToObj(id -> {
              CompletableFuture<List<String>> all = new CompletableFuture<>();
              Thread.ofVirtual()
                  .start(() -> {
                    var answer = (Answer.Stream) session.request(call(id));
                    try (var source = answer.source()) {
                      all.complete(UpstreamFixture.texts(UpstreamFixture.takeAll(source)));
                    }
                  });
              return all;
            })
            .toList();

    // then
    for (int id = 0; id < 200; id++) {
      assertThat(answers.get(id)).succeedsWithin(Duration.ofSeconds(20));
      assertThat(answers.get(id).join()).hasSize(21).endsWith(response(id));
    }
  }

  @Test
  void shouldBeBusyBeyondMaxConnections() throws Exception {
    CountDownLatch answering = new CountDownLatch(1);
    ScriptedServer server =
        fixture.server((_, wire) -> {
          answering.await();
          wire.answer(200, JSON, response(1));
        });
    UpstreamSession session = fixture.session(server, maxConnections(1));
    CompletableFuture<Answer> first = CompletableFuture.supplyAsync(() -> session.request(call(1)));
    await().until(() -> server.requests().size() == 1);

    assertThatThrownBy(() -> session.request(call(1))).isInstanceOf(UpstreamException.Busy.class);

    answering.countDown();
    assertThat(first.get()).isInstanceOf(Answer.Json.class);
    assertThat(session.request(call(1))).isInstanceOf(Answer.Json.class);
    assertThat(server.requests()).hasSize(2);
  }
}
