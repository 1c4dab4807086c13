package dev.holdfast.upstream.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Back-pressure towards the sender of a body. */
class BodyQueueTest {

  private final AtomicInteger pauses = new AtomicInteger();
  private final AtomicInteger resumes = new AtomicInteger();

  @Test
  void shouldPauseAtHighWaterWithinBudget() throws Exception {
    BodyQueue queue = new BodyQueue(new ByteBudget(Long.MAX_VALUE));

    queue.add(new byte[BodyQueue.HIGH_WATER - 1], pauses::incrementAndGet);
    assertThat(pauses).hasValue(0);
    queue.add(new byte[1], pauses::incrementAndGet);
    assertThat(pauses).hasValue(1);

    assertThat(queue.take(Deadline.NEVER, resumes::incrementAndGet))
        .isInstanceOf(BodyQueue.Read.Chunks.class);
    assertThat(resumes).hasValue(1);
  }

  /** Otherwise hundreds of fast streams would fill a small heap while the store is slow. */
  @Test
  void shouldPauseAtLowWaterBeyondBudget() throws Exception {
    ByteBudget budget = new ByteBudget(BodyQueue.HIGH_WATER);
    BodyQueue greedy = new BodyQueue(budget);
    BodyQueue modest = new BodyQueue(budget);

    greedy.add(new byte[BodyQueue.HIGH_WATER], pauses::incrementAndGet);
    assertThat(pauses).hasValue(1);
    modest.add(new byte[BodyQueue.LOW_WATER], pauses::incrementAndGet);
    assertThat(pauses).hasValue(2);

    var _ = greedy.take(Deadline.NEVER, resumes::incrementAndGet);
    var _ = modest.take(Deadline.NEVER, resumes::incrementAndGet);
    assertThat(resumes).hasValue(2);
    modest.add(new byte[BodyQueue.LOW_WATER], pauses::incrementAndGet);
    assertThat(pauses).as("taken bytes are not in the log yet").hasValue(3);
  }

  /** A queue that exceeds the budget by one byte. */
  private BodyQueue exceeding(ByteBudget budget) {
    BodyQueue queue = new BodyQueue(budget);
    queue.add(new byte[BodyQueue.LOW_WATER + 1], pauses::incrementAndGet);
    return queue;
  }

  @Test
  void shouldNotCountBytesOnceReaderTakesMore() throws Exception {
    ByteBudget budget = new ByteBudget(BodyQueue.LOW_WATER);
    BodyQueue queue = exceeding(budget);
    var _ = queue.take(Deadline.NEVER, resumes::incrementAndGet);
    assertThat(budget.isExceeded()).isTrue();

    queue.complete();
    var _ = queue.take(Deadline.NEVER, resumes::incrementAndGet);

    assertThat(budget.isExceeded()).isFalse();
  }

  @Test
  void shouldNotCountDroppedBytes() {
    ByteBudget budget = new ByteBudget(BodyQueue.LOW_WATER);
    BodyQueue dropped = exceeding(budget);
    assertThat(budget.isExceeded()).isTrue();

    dropped.close();
    dropped.close();

    assertThat(budget.isExceeded()).isFalse();
  }

  /** What ends the wait of a reader. */
  enum Change {
    ADD,
    COMPLETE,
    FAIL,
    CLOSE;

    void to(BodyQueue queue) {
      switch (this) {
        case ADD -> queue.add(new byte[1], () -> {});
        case COMPLETE -> queue.complete();
        case FAIL -> queue.fail(new IllegalStateException("planted"));
        case CLOSE -> queue.close();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldContinueAReaderWithoutAThread(Change change) {
    BodyQueue queue = new BodyQueue(new ByteBudget(Long.MAX_VALUE));
    AtomicInteger continued = new AtomicInteger();

    assertThat(queue.takeArrived(resumes::incrementAndGet)).isNull();
    assertThat(queue.whenReadable(Deadline.NEVER, continued::incrementAndGet)).isTrue();
    assertThat(continued).hasValue(0);
    change.to(queue);
    assertThat(continued).hasValue(1);
    change.to(queue);

    assertThat(continued).hasValue(1);
    assertThat(queue.whenReadable(Deadline.NEVER, continued::incrementAndGet)).isFalse();
    // The end and a failure are for the thread that takes.
    assertThat(queue.takeArrived(resumes::incrementAndGet) != null).isEqualTo(change == Change.ADD);
    assertThat(queue.whenReadable(Deadline.NEVER, continued::incrementAndGet))
        .isEqualTo(change == Change.ADD);
  }

  @Test
  void shouldContinueAReaderWithoutAThreadAtTheDeadline() {
    BodyQueue queue = new BodyQueue(new ByteBudget(Long.MAX_VALUE));
    Deadline deadline = Deadline.after(Duration.ofMillis(50));
    CountDownLatch continued = new CountDownLatch(1);

    assertThat(queue.whenReadable(deadline, continued::countDown)).isTrue();
    await().until(() -> continued.getCount() == 0);

    assertThat(deadline.hasPassed()).isTrue();
    assertThat(queue.whenReadable(deadline, continued::countDown)).isFalse();
  }

  /** After the last bytes of an answer the reader does not come back for more. */
  @Test
  void shouldNotCountTakenBytesAfterClose() throws Exception {
    ByteBudget budget = new ByteBudget(BodyQueue.LOW_WATER);
    BodyQueue queue = exceeding(budget);
    var _ = queue.take(Deadline.NEVER, resumes::incrementAndGet);
    assertThat(budget.isExceeded()).isTrue();

    queue.close();
    queue.close();

    assertThat(budget.isExceeded()).isFalse();
  }
}
