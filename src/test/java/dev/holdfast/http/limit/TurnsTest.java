package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.http.error.RequestRejectedException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class TurnsTest {

  @Test
  void shouldServeInOrder() throws InterruptedException {
    Turns turns = new Turns(2, Duration.ofMinutes(1));
    Turns.Turn first = turns.await();
    Turns.Turn second = turns.await();
    List<Integer> served = new CopyOnWriteArrayList<>();
    Thread third = waiting(turns, () -> served.add(3));
    Thread fourth = waiting(turns, () -> served.add(4));

    first.close();
    third.join();
    assertThat(served).containsExactly(3);

    second.close();
    fourth.join();
    assertThat(served).containsExactly(3, 4);
  }

  /** A thread that waits for a turn, and keeps it. */
  private static Thread waiting(Turns turns, Runnable served) throws InterruptedException {
    Thread thread =
        Thread.ofPlatform()
            .start(() -> {
              var _ = turns.await();
              served.run();
            });
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.sleep(1);
    }
    return thread;
  }

  @Test
  void shouldRefuseWhoWaitsForTooLong() {
    Turns turns = new Turns(1, Duration.ofMillis(1));
    Turns.Turn taken = turns.await();

    assertThatExceptionOfType(RequestRejectedException.class)
        .isThrownBy(turns::await)
        .satisfies(refused -> assertThat(refused.status()).isEqualTo(503));

    taken.close();
    assertThat(CompletableFuture.supplyAsync(turns::await)).succeedsWithin(Duration.ofMinutes(1));
  }
}
