package dev.holdfast.timer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TimeLimitTest {

  private static final Duration SHORT = Duration.ofMillis(20);
  private static final Duration LONG = Duration.ofMinutes(10);

  @Test
  void shouldWaitUntilTheFutureIsDone() throws InterruptedException {
    CompletableFuture<String> future = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> future.complete("done"));

    assertThat(TimeLimit.await(future, LONG)).isTrue();
    assertThat(TimeLimit.await(future, Duration.ZERO)).isTrue();
  }

  @Test
  void shouldNotFailWithTheFuture() throws InterruptedException {
    CompletableFuture<String> future = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> future.completeExceptionally(new IllegalStateException()));

    assertThat(TimeLimit.await(future, LONG)).isTrue();
  }

  @Test
  void shouldEndAWaitAfterItsTime() throws InterruptedException {
    CompletableFuture<String> future = new CompletableFuture<>();
    long begun = System.nanoTime();

    assertThat(TimeLimit.await(future, SHORT)).isFalse();

    assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(SHORT.toNanos());
    assertThat(TimeLimit.await(future, Duration.ZERO)).isFalse();
  }

  @Test
  void shouldBeInterruptible() throws InterruptedException {
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    Thread waiting =
        Thread.ofVirtual()
            .start(() -> {
              try {
                interrupted.complete(TimeLimit.await(new CompletableFuture<>(), LONG));
              } catch (InterruptedException expected) {
                interrupted.completeExceptionally(expected);
              }
            });

    waiting.interrupt();

    assertThat(TimeLimit.await(interrupted, LONG)).isTrue();
    assertThatExceptionOfType(InterruptedException.class)
        .isThrownBy(() -> {
          throw interrupted.exceptionNow();
        });
  }

  @Test
  void shouldEndLimitsInTheOrderOfTheirTimes() throws InterruptedException {
    CompletableFuture<Long> first = new CompletableFuture<>();
    CompletableFuture<Long> second = new CompletableFuture<>();
    CompletableFuture<Long> third = new CompletableFuture<>();
    start(SHORT.plusMillis(400), third);
    start(SHORT, first);
    start(SHORT.plusMillis(200), second);

    assertThat(TimeLimit.await(third, LONG)).isTrue();

    assertThat(first.resultNow()).isLessThan(second.resultNow());
    assertThat(second.resultNow()).isLessThan(third.resultNow());
  }

  private static void start(Duration time, CompletableFuture<Long> ended) {
    TimeLimit _ = TimeLimit.start(time, () -> ended.complete(System.nanoTime()));
  }

  @Test
  void shouldNotEndAfterItIsClosed() throws InterruptedException {
    AtomicBoolean ended = new AtomicBoolean();
    TimeLimit closed = TimeLimit.start(SHORT, () -> ended.set(true));
    closed.close();

    assertThat(TimeLimit.await(new CompletableFuture<>(), SHORT.multipliedBy(2))).isFalse();

    assertThat(ended).isFalse();
    assertThat(closed.isOver()).isFalse();
  }

  /** A limit that begins while the thread of the timer ends must not be overlooked. */
  @Test
  void shouldEndALimitAfterSilence() throws InterruptedException {
    TimeLimit later = TimeLimit.start(LONG, () -> {});
    for (int n = 0; n < 3; n++) {
      CompletableFuture<Long> silence = new CompletableFuture<>();
      start(Duration.ofMillis(1000 + 2 * n), silence);
      assertThat(TimeLimit.await(silence, LONG)).isTrue();

      assertThat(TimeLimit.await(new CompletableFuture<>(), Duration.ofMillis(1))).isFalse();
    }
    later.close();
  }

  @Test
  void shouldEndEveryLimitOfManyThreads() throws InterruptedException {
    int threads = 200;
    int each = 20;
    CountDownLatch ended = new CountDownLatch(threads * each);
    List<Thread> all = new ArrayList<>();
    for (int n = 0; n < threads; n++) {
      Duration time = Duration.ofMillis(n % 7);
      all.add(
          Thread.ofVirtual()
              .start(() -> {
                for (int i = 0; i < each; i++) {
                  TimeLimit _ = TimeLimit.start(time, ended::countDown);
                }
              }));
    }
    for (Thread thread : all) {
      thread.join();
    }

    assertThat(ended.await(50, TimeUnit.SECONDS)).isTrue();
  }
}
