package dev.holdfast.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class MessageQueueTest {

  private static final byte[] SMALL = new byte[1];
  private static final byte[] LARGE = new byte[MessageQueue.MAX_BYTES];

  private final UpstreamException failure = new UpstreamException.Broken("test", null);

  private final MessageQueue queue = new MessageQueue(new ByteBudget(Long.MAX_VALUE));

  private List<UpstreamMessage> take() throws InterruptedException {
    return queue.take(Duration.ZERO);
  }

  @Test
  void shouldEndAfterTheLastWriter() throws Exception {
    // given
    MessageQueue.Writer first = queue.newWriter(_ -> {});
    MessageQueue.Writer second = queue.newWriter(_ -> {});

    // when
    first.finish(new UpstreamMessage(SMALL, null));
    first.abandon();
    second.finish(new UpstreamMessage(SMALL, null));

    // then
    assertThat(take()).hasSize(2);
    assertThat(take()).isEmpty();
    assertThat(first.isCancelled()).isFalse();
  }

  @Test
  void shouldShareABudgetWithOtherQueues() throws Exception {
    // given
    ByteBudget budget = new ByteBudget(2);
    MessageQueue other = new MessageQueue(budget);
    MessageQueue.Writer writer = other.newWriter(_ -> {});
    MessageQueue full = new MessageQueue(budget);
    full.add(LARGE);

    // when, then
    assertThat(writer.offer(SMALL)).isFalse();
    assertThat(writer.write(SMALL)).as("one message always fits").isTrue();
    Thread thread =
        Thread.ofPlatform().start(() -> writer.finish(new UpstreamMessage(SMALL, null)));
    await().until(() -> thread.getState() == Thread.State.WAITING);
    assertThat(other.take(Duration.ZERO)).hasSize(1);
    assertThat(other.take(Duration.ZERO)).hasSize(1);
    assertThat(full.close()).hasSize(1);
    assertThat(budget.tryTake(2)).as("the reader holds the last message").isFalse();
    assertThat(other.take(Duration.ZERO)).isEmpty();
    assertThat(budget.tryTake(2)).as("everything was given back").isTrue();
  }

  @Test
  void shouldAcceptOneMessageOfAnySizeAndThenWait() throws Exception {
    // given
    MessageQueue.Writer writer = queue.newWriter(_ -> {});
    writer.write(LARGE);

    // when
    Thread thread =
        Thread.ofPlatform().start(() -> writer.finish(new UpstreamMessage(SMALL, null)));
    await().until(() -> thread.getState() == Thread.State.WAITING);

    // then
    assertThat(take()).hasSize(1);
    assertThat(take()).hasSize(1);
    assertThat(take()).isEmpty();
  }

  @Test
  void shouldDropTheLastMessageOfAWriterThatIsAbandonedWhileItWaits() throws Exception {
    // given
    MessageQueue.Writer writer = queue.newWriter(_ -> {});
    writer.write(LARGE);
    Thread thread =
        Thread.ofPlatform().start(() -> writer.finish(new UpstreamMessage(SMALL, null)));
    await().until(() -> thread.getState() == Thread.State.WAITING);

    // when
    writer.abandon();
    thread.join();

    // then
    assertThat(writer.isCancelled()).isTrue();
    assertThat(take()).hasSize(1);
    assertThat(take()).isEmpty();
  }

  @Test
  void shouldRefuseMessagesAfterTheLastOne() {
    // given
    MessageQueue.Writer writer = queue.newWriter(_ -> {});
    writer.finish(new UpstreamMessage(SMALL, null));

    // then
    assertThat(writer.write(SMALL)).isFalse();
  }

  @Test
  void shouldDropAllMessagesWhenClosed() throws Exception {
    // given
    MessageQueue.Writer writer = queue.newWriter(_ -> {});
    writer.write(SMALL);

    // when
    List<UpstreamMessage> unread = queue.close();

    // then
    assertThat(unread).hasSize(1);
    assertThat(take()).isEmpty();
    assertThat(writer.isCancelled()).isTrue();
    assertThat(writer.write(SMALL)).isFalse();
  }

  @Test
  void shouldDeliverWaitingMessagesBeforeItFails() throws Exception {
    // given
    MessageQueue.Writer writer = queue.newWriter(_ -> {});
    writer.write(SMALL);

    // when: twice, as for two calls of one batch
    queue.fail(failure);
    writer.abandon();
    queue.fail(failure);

    // then
    assertThat(take()).hasSize(1);
    assertThatThrownBy(this::take).isSameAs(failure);
    assertThat(take()).isEmpty();
  }

  @Test
  void shouldNotFailAfterTheLastWriter() throws Exception {
    // given
    queue.newWriter(_ -> {}).finish(new UpstreamMessage(SMALL, null));

    // when
    queue.fail(failure);

    // then
    assertThat(take()).hasSize(1);
    assertThat(take()).isEmpty();
  }

  @Test
  void shouldOfferOnlyWhileThereIsRoom() throws Exception {
    MessageQueue.Writer writer = queue.newWriter(_ -> {});

    for (int i = 0; i < MessageQueue.MAX_MESSAGES; i++) {
      assertThat(writer.offer(SMALL)).isTrue();
    }

    assertThat(writer.offer(SMALL)).isFalse();
    assertThat(take()).hasSize(MessageQueue.MAX_MESSAGES);
    assertThat(writer.offer(SMALL)).isTrue();
  }

  @Test
  void shouldTimeOutOfASilentStream() {
    MessageQueue.Writer _ = queue.newWriter(_ -> {});

    assertThatThrownBy(() -> queue.take(Duration.ofMillis(1)))
        .isInstanceOf(UpstreamException.TimedOut.class);
  }

  @Test
  void shouldTellTheEndOfAWriterOnce() {
    AtomicInteger ends = new AtomicInteger();
    MessageQueue.Writer writer = queue.newWriter(_ -> ends.incrementAndGet());

    writer.finish(new UpstreamMessage(SMALL, null));
    writer.abandon();

    assertThat(ends).hasValue(1);
  }
}
