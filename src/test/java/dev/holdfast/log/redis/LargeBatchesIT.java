package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.event;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A small append beside many large ones. */
class LargeBatchesIT extends ReplicasFixture {

  private static final int LARGE = 20;

  private final List<Thread> threads = new ArrayList<>();

  @Test
  void shouldNotWriteASmallEventAfterAllLargeOnes() throws Exception {
    RedisFixture redis = closing(RedisFixture.start());
    EventLog log = replica(redis, "a");
    List<StreamWriter> writers =
        IntStream.range(0, LARGE)
            .mapToObj(i -> log.open(new StreamRef(session, "b" + i), "1"))
            .toList();
    StreamWriter other = log.open(ref, "1");
    other.append(List.of(event("loads the script")));

    redis.command("CLIENT", "PAUSE", "900", "WRITE");
    List<FutureTask<Position>> large =
        writers.stream()
            .map(each -> start(() -> each.append(List.of(event("x".repeat(500_000))))))
            .toList();
    awaitWaiting();
    FutureTask<Position> small = start(() -> other.append(List.of(event("x"))));
    awaitWaiting();
    redis.command("CLIENT", "UNPAUSE");

    int earlier = 0;
    for (FutureTask<Position> each : large) {
      earlier += each.get().millis() < small.get().millis() ? 1 : 0;
    }
    assertThat(earlier).isLessThan(LARGE / 2);
  }

  private <T> FutureTask<T> start(Callable<T> append) {
    FutureTask<T> task = new FutureTask<>(append);
    threads.add(Thread.ofPlatform().start(task));
    return task;
  }

  /** Waits until each thread waits for Redis, or for another thread. */
  private void awaitWaiting() {
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        .until(() -> threads.stream().noneMatch(each -> each.getState() == Thread.State.RUNNABLE));
  }
}
