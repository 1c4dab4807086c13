package dev.holdfast.relay.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.LoggedLines;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks that wait for a server that reads slowly. */
@Timeout(30)
class OrderedTasksTest {

  private final PinnedSession.OrderedTasks tasks = new PinnedSession.OrderedTasks();
  private final CountDownLatch reads = new CountDownLatch(1);
  private final List<Integer> done = new CopyOnWriteArrayList<>();

  @AfterEach
  void release() {
    reads.countDown();
  }

  private boolean add(int bytes) {
    return tasks.add(
        bytes,
        release -> {
          try {
            reads.await();
          } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
          }
          done.add(bytes);
          release.run();
        });
  }

  @Test
  void shouldKeepTheOrder() {
    assertThat(add(1)).isTrue();
    assertThat(add(2)).isTrue();
    assertThat(add(3)).isTrue();

    reads.countDown();
    tasks.done().join();

    assertThat(done).containsExactly(1, 2, 3);
  }

  @Test
  void shouldAcceptNoMoreThanTheMaximumNumberOfTasks() {
    for (int i = 0; i < PinnedSession.OrderedTasks.MAX_TASKS; i++) {
      assertThat(add(0)).isTrue();
    }
    assertThat(add(0)).isFalse();

    reads.countDown();
    tasks.done().join();

    assertThat(add(0)).isTrue();
  }

  @Test
  void shouldAcceptNoMoreThanTheMaximumNumberOfBytes() {
    assertThat(add(PinnedSession.OrderedTasks.MAX_BYTES - 1)).isTrue();
    assertThat(add(1)).isTrue();
    assertThat(add(1)).isFalse();

    reads.countDown();
    tasks.done().join();

    assertThat(add(1)).isTrue();
  }

  @Test
  void shouldAcceptOneTaskOfAnySize() {
    assertThat(add(2 * PinnedSession.OrderedTasks.MAX_BYTES)).isTrue();
    assertThat(add(1)).isFalse();
    assertThat(add(0)).isTrue();
  }

  @Test
  void shouldHoldBytesUntilTheTaskGivesThemBack() {
    CompletableFuture<Runnable> held = new CompletableFuture<>();
    assertThat(tasks.add(PinnedSession.OrderedTasks.MAX_BYTES, held::complete)).isTrue();
    Runnable release = held.join();
    tasks.done().join();

    assertThat(add(1)).isFalse();

    release.run();
    release.run();
    assertThat(add(PinnedSession.OrderedTasks.MAX_BYTES)).isTrue();
    assertThat(add(1)).isFalse();
  }

  @Test
  void shouldContinueAfterAFailedTask() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      reads.countDown();
      boolean failing =
          tasks.add(
              PinnedSession.OrderedTasks.MAX_BYTES,
              _ -> {
                throw new IllegalStateException("a test");
              });
      tasks.done().join();
      boolean failingBadly =
          tasks.add(
              1,
              _ -> {
                throw new OutOfMemoryError("planted");
              });

      assertThat(failing && failingBadly).isTrue();
      assertThat(add(2)).isTrue();
      tasks.done().join();
      assertThat(done).containsExactly(2);
      log.await("task failed unexpectedly");
    }
  }
}
