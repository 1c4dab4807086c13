package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ChangeSignalTest {

  private static final int THREADS = 4;
  private static final int CHANGES = 100_000;

  private final ChangeSignal signal = new ChangeSignal();

  /** Agents and tools of one session change at once. */
  @Test
  void shouldCountTheChangesOfAllThreads() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        running.add(
            threads.submit(() -> {
              for (int change = 0; change < CHANGES; change++) {
                signal.change();
              }
            }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }

    assertThat(signal.count()).isEqualTo((long) THREADS * CHANGES);
  }

  @Test
  void shouldWaitForTheNextChange() throws Exception {
    long known = signal.count();

    assertThat(signal.await(known, Duration.ofMillis(1))).isFalse();
    Thread.startVirtualThread(signal::change);

    assertThat(signal.await(known, Duration.ofSeconds(30))).isTrue();
    assertThat(signal.await(known, Duration.ZERO)).isTrue();
  }
}
