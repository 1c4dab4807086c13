package dev.holdfast.relay.pump;

import static dev.holdfast.relay.pump.PumpFixture.PROGRESS;
import static dev.holdfast.relay.pump.PumpFixture.broken;
import static dev.holdfast.relay.pump.PumpFixture.error;
import static dev.holdfast.relay.pump.PumpFixture.result;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.log.LogException;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class PumpTest {

  private final PumpFixture pumping = new PumpFixture();

  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of(
            new UpstreamException.Unreachable(null),
            -32000,
            "The server cannot be reached; it has not seen the request"),
        Arguments.of(
            new UpstreamException.TimedOut("an answer"),
            -32000,
            "The server did not answer in time; the outcome of the request is unknown"),
        Arguments.of(
            new UpstreamException.TimedOut("an answer", UpstreamException.TimedOut.IDLE),
            -32000,
            "The server did not answer in time (upstream.idle-timeout); the outcome of the request is unknown"),
        Arguments.of(
            new UpstreamException.SessionGone(),
            -32001,
            "The server has ended the session; initialize again"),
        Arguments.of(
            new UpstreamException.SessionGone(true),
            -32001,
            "The server has ended the session; the outcome of the request is unknown; initialize again"),
        Arguments.of(
            new UpstreamException.Refused(503, null, null),
            -32000,
            "The server refused the request with status 503"),
        Arguments.of(
            new UpstreamException.Refused(400, "not JSON".getBytes(UTF_8), null),
            -32000,
            "The server refused the request with status 400"),
        Arguments.of(
            new UpstreamException.Refused(400, error("99", -1, "other").getBytes(UTF_8), null),
            -32000,
            "The server refused the request with status 400"),
        Arguments.of(
            new UpstreamException.Broken("secret of the inside", null),
            -32000,
            "The server's answer broke off; the outcome of the request is unknown"));
  }

  @Test
  void shouldEndWithTheResponse() {
    pumping.source.bring(PROGRESS).bring(PROGRESS, result("1")).bring(PROGRESS);

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(PROGRESS, PROGRESS, result("1"));
    assertThat(pumping.isComplete()).isTrue();
    assertThat(pumping.source.isClosed()).isTrue();
  }

  /** It cannot be the response: the gateway accepts no request with such an id. */
  @Test
  void shouldSkipAMessageWithALongId() {
    String longId = "\"" + "x".repeat(300) + "\"";
    String ping = "{\"jsonrpc\":\"2.0\",\"id\":" + longId + ",\"method\":\"ping\"}";
    pumping.source.bring(ping, PROGRESS).bring(result(longId)).bring(result("1"));

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(PROGRESS, result("1"));
  }

  @Test
  void shouldLogThatItSkipsMessages() {
    String longId = "\"" + "x".repeat(300) + "\"";
    try (LoggedLines log = new LoggedLines(UpstreamEvents.class)) {
      log.awaitRepeating(
          "message ignored stream=",
          () -> {
            ScriptedSource source = new ScriptedSource().bring(result(longId)).bring(result("1"));
            pumping.pump(pumping.writer, () -> source, "1").run();
          });
    }
  }

  @Test
  void shouldWriteNothingAfterTheResponse() {
    pumping.source.bring(result("1"), PROGRESS);

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(result("1"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void shouldEndWithADefiniteErrorWhenTheUpstreamFails(
      UpstreamException failure, int code, String message) {
    pumping.source.bring(PROGRESS).fail(failure);

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(PROGRESS, error("1", code, message));
    assertThat(pumping.isComplete()).isTrue();
    assertThat(pumping.fixture.heard.failures).containsExactly(failure);
  }

  @Test
  void shouldForwardTheErrorOfARefusal() {
    String given = error("1", -32050, "quota");
    pumping.source.fail(new UpstreamException.Refused(429, given.getBytes(UTF_8), null));

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(given);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "\"1\"", "1.0", "9007199254740993", "\"\\u0061\"", "-0"})
  void shouldKeepTheSpellingOfTheId(String id) {
    pumping.source.end();

    pumping.pump(id).run();

    assertThat(pumping.logged()).containsExactly(broken(id));
  }

  @Test
  void shouldKeepMessagesBeforeAnInvalidOne() {
    pumping.source.bring(PROGRESS, "garbage", result("1"));

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(PROGRESS, broken("1"));
    assertThat(pumping.source.isClosed()).isTrue();
  }

  @Test
  void shouldEndWithAnErrorWhenTheFirstMessageIsInvalid() {
    pumping.source.bring("[]");

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(broken("1"));
  }

  @Test
  void shouldEndTheOpenRequestsOfABatchWithErrors() {
    pumping.source.bring(result("2")).end();

    pumping.pump("1", "2", "\"3\"").run();

    assertThat(pumping.logged()).containsExactly(result("2"), broken("1"), broken("\"3\""));
    assertThat(pumping.isComplete()).isTrue();
  }

  /** A batch with many answers once took all memory, and its client waited for ever. */
  static Stream<Throwable> unexpectedFailures() {
    return Stream.of(new IllegalStateException("a bug"), new OutOfMemoryError("planted"));
  }

  @ParameterizedTest
  @MethodSource("unexpectedFailures")
  void shouldEndWithAnErrorAfterAnUnexpectedFailure(Throwable failure) {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      pumping.source.bring(PROGRESS).fail(failure);

      pumping.pump("1").run();

      assertThat(pumping.logged()).containsExactly(PROGRESS, broken("1"));
      assertThat(pumping.isComplete()).isTrue();
      log.await("pump failed unexpectedly stream=");
    }
  }

  @Test
  void shouldEndWithAnErrorWhenTheResponseCannotBeWritten() {
    pumping.writer.failBefore(() -> new OutOfMemoryError("planted"));
    pumping.source.bring(result("1"));

    pumping.pump("1").run();

    assertThat(pumping.logged()).containsExactly(broken("1"));
    assertThat(pumping.isComplete()).isTrue();
  }

  @Test
  void shouldEndWithAnErrorEvenIfThatFailsAtFirst() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      pumping
          .writer
          .failBefore(() -> new OutOfMemoryError("planted"))
          .failBefore(() -> new OutOfMemoryError("planted again"))
          .failBefore(() -> new IllegalStateException("a bug"));
      pumping.source.bring(result("1"));

      pumping.pump("1").run();

      assertThat(pumping.logged()).containsExactly(broken("1"));
      assertThat(pumping.isComplete()).isTrue();
      log.await("stream not ended yet stream=");
    }
  }

  @Test
  void shouldStopWithoutAnEventWhenFenced() {
    pumping
        .writer
        .failBefore(() -> new LogException.Fenced(pumping.writer.stream()))
        .failBefore(() -> new IllegalStateException("a fenced pump writes again"));
    pumping.source.bring(PROGRESS).bring(result("1"));

    pumping.pump("1").run();

    assertThat(pumping.logged()).isEmpty();
    assertThat(pumping.source.isClosed()).isTrue();
    assertThat(pumping.fixture.heard.failures).isEmpty();
  }

  @Test
  void shouldStopWithoutAnEventWhenTheSessionHasEnded() {
    pumping.fixture.log.end(LogFixture.SESSION);
    pumping.source.fail(new UpstreamException.SessionGone());

    pumping.pump("1").run();

    assertThat(pumping.source.isClosed()).isTrue();
  }

  @Test
  void shouldThrowAndEndTheStreamWhenTheUpstreamFailsFirst() {
    UpstreamException failure = new UpstreamException.Unreachable(null);
    Pump pump =
        pumping.pump(
            () -> {
              throw failure;
            },
            "1");

    pumping.start(pump);

    assertThatThrownBy(() -> pump.awaitUpstream(Duration.ofSeconds(20))).isSameAs(failure);
    assertThat(pumping.logged())
        .containsExactly(
            error("1", -32000, "The server cannot be reached; it has not seen the request"));
    assertThat(pumping.isComplete()).isTrue();
  }

  @Test
  void shouldNotThrowAFailureAfterTheUpstreamAnswered() {
    pumping.source.fail(new UpstreamException.Unreachable(null));
    Pump pump = pumping.pump("1");

    pump.run();

    assertThat(pump.awaitUpstream(Duration.ofSeconds(20))).isFalse();
    assertThat(pumping.isComplete()).isTrue();
  }

  /** The client gets head and answer at once, and its thread need not wait a second time. */
  @Test
  void shouldWaitUntilAShortAnswerIsInTheLog() {
    Pump pump = pumping.pump(() -> new Answer.Json(result("1").getBytes(UTF_8)).source(), "1");
    pumping.start(pump);

    assertThat(pump.awaitUpstream(Duration.ofSeconds(20))).isTrue();
    assertThat(pumping.logged()).containsExactly(result("1"));
    assertThat(pumping.isComplete()).isTrue();
  }

  @Test
  void shouldNotWaitForTheMessagesOfAStream() {
    Pump pump = pumping.pump("1");
    pumping.start(pump);

    assertThat(pump.awaitUpstream(Duration.ofSeconds(20))).isFalse();
    assertThat(pumping.logged()).isEmpty();
    pump.stop();
  }

  @Test
  void shouldContinueTheCallAfterTheWaitForTheUpstream() throws InterruptedException {
    pumping.source.bring(result("1"));
    CountDownLatch answer = new CountDownLatch(1);
    Pump pump =
        pumping.pump(
            () -> {
              try {
                answer.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              return pumping.source;
            },
            "1");
    Thread thread = pumping.start(pump);

    assertThat(pump.awaitUpstream(Duration.ofMillis(1))).isFalse();
    answer.countDown();
    thread.join();

    assertThat(pumping.logged()).containsExactly(result("1"));
  }

  /** One invalid message must not end the standalone stream. */
  @Test
  void shouldSkipInvalidMessagesOnAStandaloneStream() {
    pumping.source.bring(PROGRESS, "garbage").bring("garbage").bring(PROGRESS).end();

    pumping.pump().run();

    assertThat(pumping.logged()).containsExactly(PROGRESS, PROGRESS);
    assertThat(pumping.fixture.heard.failures).hasSize(2);
    assertThat(pumping.isComplete()).isFalse();
  }
}
