package dev.holdfast.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SignalTest {

  private static final Duration LONG = Duration.ofMinutes(10);

  private final Signal signal = new Signal();

  @Test
  void shouldKeepAWakeUpThatComesBeforeTheWait() throws InterruptedException {
    signal.wake();
    signal.wake();

    assertThat(signal.await(LONG)).isEqualTo(Signal.Cause.WOKEN);
    assertThat(signal.await(Duration.ZERO)).isEqualTo(Signal.Cause.TIMED_OUT);
  }

  @Test
  void shouldTimeOut() throws InterruptedException {
    assertThat(signal.await(Duration.ofMillis(1))).isEqualTo(Signal.Cause.TIMED_OUT);
  }

  @Test
  void shouldTellAnEvictionEveryTime() throws InterruptedException {
    assertThat(signal.ended()).isFalse();

    signal.evicted();
    signal.wake();

    assertThat(signal.ended()).isTrue();
    assertThat(signal.await(LONG)).isEqualTo(Signal.Cause.EVICTED);
    assertThat(signal.await(LONG)).isEqualTo(Signal.Cause.EVICTED);
  }

  @Test
  void shouldPreferThatTheClientIsGone() throws InterruptedException {
    signal.evicted();
    signal.gone();

    assertThat(signal.ended()).isTrue();
    assertThat(signal.await(LONG)).isEqualTo(Signal.Cause.GONE);
    assertThat(signal.await(LONG)).isEqualTo(Signal.Cause.GONE);
  }

  @Test
  void shouldEndAWaitThatIsUnderWay() throws Exception {
    CompletableFuture<Signal.Cause> cause = new CompletableFuture<>();
    Thread waiter =
        Thread.ofPlatform()
            .start(() -> {
              try {
                cause.complete(signal.await(LONG));
              } catch (InterruptedException e) {
                cause.completeExceptionally(e);
              }
            });
    while (waiter.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }

    signal.evicted();

    assertThat(cause.get(10, TimeUnit.SECONDS)).isEqualTo(Signal.Cause.EVICTED);
  }

  /**
   * Guards against a wake-up that falls between the look and the wait after it: here the reader
   * looks at a counter, as a tail looks at the log, and a lost wake-up leaves it waiting for ten
   * minutes.
   */
  @Test
  void shouldLoseNoWakeUp() throws InterruptedException {
    int writers = 4;
    int each = 20_000;
    AtomicInteger log = new AtomicInteger();
    for (int i = 0; i < writers; i++) {
      Thread.ofVirtual()
          .start(() -> {
            for (int n = 0; n < each; n++) {
              log.incrementAndGet();
              signal.wake();
            }
          });
    }

    Signal.Cause cause = Signal.Cause.WOKEN;
    while (log.get() < writers * each && cause == Signal.Cause.WOKEN) {
      cause = signal.await(LONG);
    }

    assertThat(log.get()).isEqualTo(writers * each);
  }
}
