package dev.holdfast.upstream.local.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ComputeQueueTest {

  private final ComputeQueue queue = new ComputeQueue(0);
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch free = new CountDownLatch(1);

  private final BlockingQueue<String> ran = new LinkedBlockingQueue<>();

  @AfterEach
  void end() {
    held.countDown();
    free.countDown();
  }

  private void start(String session, Runnable work) {
    assertThat(queue.start(session, new FutureTask<>(work, null), 1)).isTrue();
  }

  private void startRecorded(String session) {
    start(session, () -> ran.add(session));
  }

  private static Runnable await(CountDownLatch latch) {
    return () -> assertThatCode(latch::await).doesNotThrowAnyException();
  }

  /** One client's many calls kept those of others waiting until all were done. */
  @Test
  void sessionsShouldTakeTurns() throws Exception {
    for (int i = 0; i < queue.threadsPerSession(); i++) {
      start("holds threads", await(held));
    }
    start("frees a thread", await(free));
    startRecorded("greedy");
    startRecorded("greedy");
    startRecorded("greedy");
    startRecorded("modest");

    free.countDown();

    // One thread runs all of them, since the others are held.
    for (String next : List.of("greedy", "modest", "greedy", "greedy")) {
      assertThat(ran.take()).isEqualTo(next);
    }
  }

  @Test
  void shouldUseAsManyThreadsAsConfigured() throws Exception {
    ComputeQueue many = new ComputeQueue(7);
    CountDownLatch running = new CountDownLatch(7);
    for (int i = 0; i < 8; i++) {
      Runnable work =
          () -> {
            running.countDown();
            await(held).run();
            ran.add("done");
          };
      assertThat(many.start("session " + i, new FutureTask<>(work, null), 1)).isTrue();
    }

    running.await();
    assertThat(many.threadsPerSession()).isEqualTo(6);
    assertThat(ran).isEmpty();
    held.countDown();
    for (int i = 0; i < 8; i++) {
      assertThat(ran.take()).isEqualTo("done");
    }
  }
}
