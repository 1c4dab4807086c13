package dev.holdfast.upstream.http.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.budget.ByteBudget;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** When the sender of a body is held back. */
class BodyQueueTest {

  private final AtomicInteger holds = new AtomicInteger();
  private final AtomicInteger releases = new AtomicInteger();

  @Test
  void shouldHoldBackAtTheHighWaterWhileThereIsRoom() throws Exception {
    BodyQueue queue = new BodyQueue(new ByteBudget(Long.MAX_VALUE));

    queue.add(new byte[BodyQueue.HIGH_WATER - 1], holds::incrementAndGet);
    assertThat(holds).hasValue(0);
    queue.add(new byte[1], holds::incrementAndGet);
    assertThat(holds).hasValue(1);

    assertThat(queue.take(Deadline.NEVER, releases::incrementAndGet))
        .isInstanceOf(BodyRead.Chunks.class);
    assertThat(releases).hasValue(1);
  }

  /** Hundreds of fast streams would else fill a small heap while the store is slow. */
  @Test
  void shouldHoldBackEarlyWhileOthersHoldTooMuch() throws Exception {
    ByteBudget inflow = new ByteBudget(BodyQueue.HIGH_WATER);
    BodyQueue greedy = new BodyQueue(inflow);
    BodyQueue modest = new BodyQueue(inflow);

    greedy.add(new byte[BodyQueue.HIGH_WATER], holds::incrementAndGet);
    assertThat(holds).hasValue(1);
    modest.add(new byte[BodyQueue.LOW_WATER], holds::incrementAndGet);
    assertThat(holds).hasValue(2);

    var _ = greedy.take(Deadline.NEVER, releases::incrementAndGet);
    var _ = modest.take(Deadline.NEVER, releases::incrementAndGet);
    assertThat(releases).hasValue(2);
    modest.add(new byte[BodyQueue.LOW_WATER], holds::incrementAndGet);
    assertThat(holds).as("what was taken is not in the log yet").hasValue(3);
  }

  /** One that holds a little more than there may be of all. */
  private BodyQueue filling(ByteBudget inflow) {
    BodyQueue queue = new BodyQueue(inflow);
    queue.add(new byte[BodyQueue.LOW_WATER + 1], holds::incrementAndGet);
    return queue;
  }

  @Test
  void shouldCountNothingOfWhatItsReaderIsDoneWith() throws Exception {
    ByteBudget inflow = new ByteBudget(BodyQueue.LOW_WATER);
    BodyQueue queue = filling(inflow);
    var _ = queue.take(Deadline.NEVER, releases::incrementAndGet);
    assertThat(inflow.isExceeded()).isTrue();

    queue.end();
    var _ = queue.take(Deadline.NEVER, releases::incrementAndGet);

    assertThat(inflow.isExceeded()).isFalse();
  }

  /** What nobody will read any more is no burden to others. */
  @Test
  void shouldCountNothingOfWhatIsDropped() {
    ByteBudget inflow = new ByteBudget(BodyQueue.LOW_WATER);
    BodyQueue dropped = filling(inflow);
    assertThat(inflow.isExceeded()).isTrue();

    dropped.close();
    dropped.close();

    assertThat(inflow.isExceeded()).isFalse();
  }

  /** As with the last of an answer: nobody comes back for more. */
  @Test
  void shouldCountNothingOfWhatWasTakenLast() throws Exception {
    ByteBudget inflow = new ByteBudget(BodyQueue.LOW_WATER);
    BodyQueue queue = filling(inflow);
    var _ = queue.take(Deadline.NEVER, releases::incrementAndGet);
    assertThat(inflow.isExceeded()).isTrue();

    queue.close();
    queue.close();

    assertThat(inflow.isExceeded()).isFalse();
  }
}
