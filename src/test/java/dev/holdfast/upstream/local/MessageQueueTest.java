package dev.holdfast.upstream.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.upstream.UpstreamException;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class MessageQueueTest {

  private static final byte[] SMALL = new byte[1];
  private static final byte[] LARGE = new byte[MessageQueue.MAX_BYTES];

  private final MessageQueue queue = new MessageQueue();

  @Test
  void shouldEndAfterTheLastWriter() throws Exception {
    // given
    MessageQueue.Writer first = queue.open();
    MessageQueue.Writer second = queue.open();

    // when
    first.finish(SMALL, () -> {});
    first.abandon();
    second.finish(SMALL, () -> {});

    // then
    assertThat(queue.take()).hasSize(2);
    assertThat(queue.take()).isEmpty();
    assertThat(first.unwanted()).isFalse();
  }

  @Test
  void shouldTakeOneMessageOfAnySizeAndThenWait() throws Exception {
    // given
    MessageQueue.Writer writer = queue.open();
    writer.write(LARGE);

    // when
    Thread thread = Thread.ofPlatform().start(() -> writer.finish(SMALL, () -> {}));
    await().until(() -> thread.getState() == Thread.State.WAITING);

    // then
    assertThat(queue.take()).hasSize(1);
    assertThat(queue.take()).hasSize(1);
    assertThat(queue.take()).isEmpty();
  }

  @Test
  void shouldDropLastMessageOfOneWhoWasAbandonedWhileItWaited() throws Exception {
    // given
    MessageQueue.Writer writer = queue.open();
    writer.write(LARGE);
    Thread thread = Thread.ofPlatform().start(() -> writer.finish(SMALL, () -> {}));
    await().until(() -> thread.getState() == Thread.State.WAITING);

    // when
    writer.abandon();
    thread.join();

    // then
    assertThat(writer.unwanted()).isTrue();
    assertThat(queue.take()).hasSize(1);
    assertThat(queue.take()).isEmpty();
  }

  @Test
  void shouldWriteNothingAfterTheLastMessage() {
    // given
    MessageQueue.Writer writer = queue.open();
    writer.finish(SMALL, () -> {});

    // then
    assertThatThrownBy(() -> writer.write(SMALL)).isInstanceOf(CancellationException.class);
  }

  @Test
  void shouldDropAllWhenClosed() throws Exception {
    // given
    MessageQueue.Writer writer = queue.open();
    writer.write(SMALL);

    // when
    queue.close();

    // then
    assertThat(queue.take()).isEmpty();
    assertThat(writer.unwanted()).isTrue();
    assertThatThrownBy(() -> writer.write(SMALL)).isInstanceOf(CancellationException.class);
  }

  @Test
  void shouldDeliverWhatWaitsBeforeItTellsThatItBroke() throws Exception {
    // given
    MessageQueue.Writer writer = queue.open();
    writer.write(SMALL);

    // when: twice, as for two calls of one batch
    queue.breakOff();
    writer.abandon();
    queue.breakOff();

    // then
    assertThat(queue.take()).hasSize(1);
    assertThatThrownBy(queue::take).isInstanceOf(UpstreamException.Broken.class);
    assertThat(queue.take()).isEmpty();
  }

  @Test
  void shouldNotBreakWhatHasEnded() throws Exception {
    // given
    queue.open().finish(SMALL, () -> {});

    // when
    queue.breakOff();

    // then
    assertThat(queue.take()).hasSize(1);
    assertThat(queue.take()).isEmpty();
  }
}
