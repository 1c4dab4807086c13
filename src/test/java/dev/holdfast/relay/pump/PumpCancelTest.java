package dev.holdfast.relay.pump;

import static dev.holdfast.relay.pump.PumpFixture.PROGRESS;
import static dev.holdfast.relay.pump.PumpFixture.broken;
import static dev.holdfast.relay.pump.PumpFixture.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.upstream.UpstreamException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class PumpCancelTest {

  private static final RequestId ONE = RequestId.of(1);

  private final PumpFixture pumping = new PumpFixture();

  @Test
  void shouldEndWithoutAnEventInTheMiddleOfAStream() throws InterruptedException {
    Pump pump = pumping.pump("1");
    Thread thread = pumping.start(pump);
    pumping.source.bring(PROGRESS);
    await().until(() -> pumping.logged().size() == 1);

    pump.cancel(ONE, false);
    thread.join();

    assertThat(pumping.logged()).containsExactly(PROGRESS, "");
    assertThat(pumping.isComplete()).isTrue();
    assertThat(pumping.source.isClosed()).isTrue();
  }

  @Test
  void shouldEndWithoutAnEventBeforeTheUpstreamAnswers() throws InterruptedException {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch sign = new CountDownLatch(1);
    Pump pump =
        pumping.pump(
            () -> {
              asked.countDown();
              awaitUnbroken(sign);
              return pumping.source;
            },
            "1");
    Thread thread = pumping.start(pump);
    asked.await();

    pump.cancel(ONE, false);
    sign.countDown();
    thread.join();

    assertThat(pumping.logged()).containsExactly("");
    assertThat(pumping.isComplete()).isTrue();
    assertThat(pumping.source.isClosed()).isTrue();
  }

  /** An upstream that answers with JSON may never answer after a cancellation. */
  @Test
  void shouldEndTheWaitForASilentUpstream() throws InterruptedException {
    CountDownLatch asked = new CountDownLatch(1);
    Pump pump =
        pumping.pump(
            () -> {
              asked.countDown();
              throw awaitInterruption();
            },
            "1");
    Thread thread = pumping.start(pump);
    asked.await();

    pump.cancel(ONE, false);
    thread.join();

    assertThat(pumping.logged()).containsExactly("");
    assertThat(pumping.isComplete()).isTrue();
    assertThat(pumping.fixture.heard.failures).isEmpty();
  }

  @Test
  void shouldEndWithoutAnEventWhenTheUpstreamFailsAfterACancellation() {
    AtomicReference<Pump> pump = new AtomicReference<>();
    pump.set(
        pumping.pump(
            () -> {
              pump.get().cancel(ONE, false);
              throw new UpstreamException.Broken("cut", null);
            },
            "1"));

    pump.get().run();

    assertThat(pumping.logged()).containsExactly("");
  }

  /** The cancellation may arrive after the upstream has already acted on it. */
  @Test
  void shouldCollectCancellationsBeforeItReportsABrokenAnswer() {
    pumping.source.fail(new UpstreamException.Broken("cut", null));
    Pump pump = pumping.pump("1");
    pumping.collectCancellations = () -> pump.cancel(ONE, false);

    pump.run();

    assertThat(pumping.logged()).containsExactly("");
    assertThat(pumping.isComplete()).isTrue();
  }

  @Test
  void shouldNotSendARequestThatWasCancelledBefore() {
    AtomicBoolean asked = new AtomicBoolean();
    Pump pump =
        pumping.pump(
            () -> {
              asked.set(true);
              return pumping.source;
            },
            "1");
    pump.cancel(ONE, false);

    pump.run();

    assertThat(pumping.logged()).containsExactly("");
    assertThat(pumping.isComplete()).isTrue();
    assertThat(asked).isFalse();
  }

  /** The client still waits for the other requests of the batch. */
  @Test
  void shouldContinueForTheOtherRequestsOfABatch() throws InterruptedException {
    Pump pump = pumping.pump("1", "2");
    Thread thread = pumping.start(pump);
    pumping.source.bring(PROGRESS);
    await().until(() -> pumping.logged().size() == 1);

    pump.cancel(ONE, false);
    pumping.source.bring(result("2"));
    thread.join();

    assertThat(pumping.logged()).containsExactly(PROGRESS, result("2"));
    assertThat(pumping.isComplete()).isTrue();
  }

  @Test
  void shouldEndWhenAllOpenRequestsOfABatchAreCancelled() throws InterruptedException {
    Pump pump = pumping.pump("1", "2");
    Thread thread = pumping.start(pump);
    pumping.source.bring(result("2"));
    await().until(() -> pumping.logged().size() == 1);

    pump.cancel(ONE, false);
    thread.join();

    assertThat(pumping.logged()).containsExactly(result("2"), "");
    assertThat(pumping.isComplete()).isTrue();
  }

  @Test
  void shouldReportAnErrorOnlyForRequestsThatWereNotCancelled() {
    pumping.source.end();
    Pump pump = pumping.pump("1", "2");
    pump.cancel(ONE, false);

    pump.run();

    assertThat(pumping.logged()).containsExactly(broken("2"));
  }

  /** A session may end before its upstream answers. The pump must not wait for the answer. */
  @Test
  void shouldCloseAnAnswerThatArrivesAfterTheStop() {
    AtomicReference<Pump> pump = new AtomicReference<>();
    pump.set(
        pumping.pump(
            () -> {
              pump.get().stop();
              return pumping.source;
            },
            "1"));
    pumping.fixture.log.end(LogFixture.SESSION);

    pump.get().run();

    assertThat(pumping.source.isClosed()).isTrue();
  }

  @Test
  void shouldKnowWhichRequestsItAnswers() {
    Pump pump = pumping.pump("1", "\"a\"");

    assertThat(pump.answers(ONE)).isTrue();
    assertThat(pump.answers(RequestId.of("a"))).isTrue();
    assertThat(pump.answers(RequestId.of("1"))).isFalse();
  }

  private static void awaitUnbroken(CountDownLatch latch) {
    boolean interrupted = false;
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static UpstreamException awaitInterruption() {
    try {
      new CountDownLatch(1).await();
      throw new AssertionError("nobody counts down");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new UpstreamException.Broken("the wait was ended", e);
    }
  }
}
