package dev.holdfast.relay.pump;

import static dev.holdfast.relay.pump.PumpFixture.PROGRESS;
import static dev.holdfast.relay.pump.PumpFixture.broken;
import static dev.holdfast.relay.pump.PumpFixture.error;
import static dev.holdfast.relay.pump.PumpFixture.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pumps that wait for messages, and have no thread meanwhile. */
@Timeout(30)
class WaitingPumpTest {

  private final PumpFixture pumping = new PumpFixture();
  private final Pump pump = pumping.pump("1");

  @BeforeEach
  void waitForMessages() {
    pumping.source.telling();
    pump.run(); // Returns when the pump waits.
    assertThat(pumping.ended).isEmpty();
    pumping.source.bring(PROGRESS);
    assertThat(pumping.logged()).containsExactly(PROGRESS);
  }

  private static String message(int number) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"n\":" + number + "}}";
  }

  private void awaitEnd() {
    await().until(() -> pumping.ended.contains(pump));
    assertThat(pumping.isComplete()).isTrue();
    assertThat(pumping.source.isClosed()).isTrue();
  }

  @Test
  void shouldAppendOnTheThreadThatBringsAMessage() {
    pumping.source.bring(message(1), message(2));
    assertThat(pumping.logged()).containsExactly(PROGRESS, message(1), message(2));
    pumping.source.bring(message(3));
    assertThat(pumping.logged()).endsWith(message(3));
    assertThat(pumping.fixture.heard.appended).hasValue(4);

    pumping.source.bring(message(4), result("1"));
    awaitEnd();

    assertThat(pumping.logged()).endsWith(message(3), message(4), result("1"));
  }

  /** Under any faults of the store, every event is in the log once and in order. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldWriteEveryEventOnceInOrder(long seed) {
    Random random = new Random(seed);
    List<String> expected = new ArrayList<>(List.of(PROGRESS));
    for (int i = 0; i < 15; i++) {
      int number = i;
      pumping.writer.failBefore(() -> failure(random, number));
      pumping.writer.failAfter(() -> new LogException.OutcomeUnknown("append", null));
      pumping.writer.succeed();
      if (random.nextBoolean()) {
        pumping.writer.succeed();
      }
    }
    for (int i = 0; i < 40; i++) {
      pumping.source.bring(message(i));
      expected.add(message(i));
      if (random.nextInt(4) == 0) {
        LockSupport.parkNanos(Duration.ofMillis(random.nextInt(30)).toNanos());
      }
    }
    pumping.source.bring(result("1"));
    expected.add(result("1"));
    awaitEnd();

    assertThat(pumping.logged()).isEqualTo(expected);
  }

  private static RuntimeException failure(Random random, int number) {
    return random.nextBoolean()
        ? new LogException.StoreUnavailable("append " + number, null)
        : new LogException.OutcomeUnknown("append " + number, null);
  }

  @Test
  void shouldEndWhenTheRequestIsCancelled() {
    pump.cancel(RequestId.of(1), false);
    awaitEnd();

    assertThat(pumping.logged()).containsExactly(PROGRESS, "");
  }

  @Test
  void shouldEndWithAnErrorWhenTheUpstreamFails() {
    pumping.source.fail(new UpstreamException.Broken("it broke", null));
    awaitEnd();

    assertThat(pumping.logged()).containsExactly(PROGRESS, broken("1"));
  }

  @Test
  void shouldEndWithAnErrorWhenAMessageIsInvalid() {
    pumping.source.bring(message(1), "not JSON");
    awaitEnd();

    assertThat(pumping.logged()).containsExactly(PROGRESS, message(1), broken("1"));
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, OutOfMemoryError.class})
  void shouldEndWithAnErrorAfterAnUnexpectedFailure(Class<? extends Throwable> failure)
      throws Exception {
    Throwable planted = failure.getConstructor(String.class).newInstance("planted");
    pumping.writer.failBefore(() -> planted);

    pumping.source.bring(message(1));
    awaitEnd();

    assertThat(pumping.logged())
        .containsExactly(
            PROGRESS,
            error(
                "1",
                -32000,
                "The server's answer broke off; the outcome of the request is unknown"));
  }

  @Test
  void shouldStopWithoutAnEventWhenAnotherReplicaOwnsTheStream() {
    pumping.writer.failBefore(() -> new LogException.Fenced(pumping.writer.stream()));
    pumping.writer.failBefore(() -> new LogException.Fenced(pumping.writer.stream()));

    pumping.source.bring(message(1));
    await().until(() -> pumping.ended.contains(pump));

    assertThat(pumping.logged()).containsExactly(PROGRESS);
    assertThat(pumping.source.isClosed()).isTrue();
  }
}
