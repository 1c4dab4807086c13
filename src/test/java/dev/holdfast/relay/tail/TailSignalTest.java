package dev.holdfast.relay.tail;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TailSignalTest {

  private static final Duration LONG = Duration.ofMinutes(10);

  /** A time limit that ends before the wait is registered wakes the tail. This one does not. */
  private static final Duration SHORT = Duration.ofMillis(300);

  private final TailSignal signal = new TailSignal();
  private final BlockingQueue<TailSignal.Cause> causes = new LinkedBlockingQueue<>();

  /** Waits as a tail does, and for the end of the wait. */
  private TailSignal.Cause await(Duration most) throws InterruptedException {
    TailSignal.Cause already = signal.await(most, () -> null, causes::add);
    return already == null ? causes.take() : already;
  }

  @Test
  void shouldKeepAWakeUpThatComesBeforeTheWait() throws InterruptedException {
    signal.wake();
    signal.wake();

    assertThat(await(LONG)).isEqualTo(TailSignal.Cause.WOKEN);
    assertThat(await(Duration.ZERO)).isEqualTo(TailSignal.Cause.TIMED_OUT);
  }

  @Test
  void shouldTimeOut() throws InterruptedException {
    assertThat(await(SHORT)).isEqualTo(TailSignal.Cause.TIMED_OUT);
  }

  @Test
  void shouldReturnAnEvictionEveryTime() throws InterruptedException {
    assertThat(signal.isEnding()).isFalse();

    signal.evicted();
    signal.wake();

    assertThat(signal.isEnding()).isTrue();
    assertThat(await(LONG)).isEqualTo(TailSignal.Cause.EVICTED);
    assertThat(await(LONG)).isEqualTo(TailSignal.Cause.EVICTED);
  }

  @Test
  void shouldReturnGoneRatherThanEvicted() throws InterruptedException {
    signal.evicted();
    signal.gone();

    assertThat(signal.isEnding()).isTrue();
    assertThat(await(LONG)).isEqualTo(TailSignal.Cause.GONE);
    assertThat(await(LONG)).isEqualTo(TailSignal.Cause.GONE);
  }

  @Test
  void shouldEndAWaitInProgress() throws InterruptedException {
    assertThat(signal.await(LONG, () -> null, causes::add)).isNull();

    signal.evicted();

    assertThat(causes.take()).isEqualTo(TailSignal.Cause.EVICTED);
  }

  @Test
  void shouldEndAWaitOnce() throws InterruptedException {
    assertThat(signal.await(SHORT, () -> null, causes::add)).isNull();
    assertThat(causes.take()).isEqualTo(TailSignal.Cause.TIMED_OUT);

    signal.wake();
    signal.wake();

    assertThat(await(LONG)).isEqualTo(TailSignal.Cause.WOKEN);
    assertThat(await(Duration.ZERO)).isEqualTo(TailSignal.Cause.TIMED_OUT);
    assertThat(causes).isEmpty();
  }

  /**
   * Guards against a wake-up that is lost between a read and the wait after it. The reader reads a
   * counter as a tail reads the log; a lost wake-up leaves it waiting for ten minutes.
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

    TailSignal.Cause cause = TailSignal.Cause.WOKEN;
    while (log.get() < writers * each && cause == TailSignal.Cause.WOKEN) {
      cause = await(LONG);
    }

    assertThat(log.get()).isEqualTo(writers * each);
  }
}
