package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.numbered;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisProxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Writers that do not get the reply of Redis to a command that was executed. */
class LostRepliesIT extends ReplicasFixture {

  private final RedisFixture redis = closing(RedisFixture.start());
  private final RedisProxy proxy = proxy(redis);
  private final EventLog log = replica(redis, "a", proxy.url(), redis.url());

  @Test
  void shouldNotWriteTwiceWhenTheReplyIsLost() {
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 1));
    List<NewEvent> batch = numbered(2, 4);

    proxy.cutAtNextReplies(1);
    assertThatExceptionOfType(LogException.OutcomeUnknown.class)
        .isThrownBy(() -> writer.append(batch));
    Position again = writer.append(batch);
    Position next = writer.append(numbered(5, 5));

    assertThat(again.number()).isEqualTo(4);
    assertThat(next.number()).isEqualTo(5);
    List<LogEvent> read = readAll(log, ref, Position.START);
    assertThat(payloads(read)).containsExactly("1", "2", "3", "4", "5");
    assertThat(read.get(3).position()).isEqualTo(again);
  }

  /** The same for an append that no thread waits for. */
  @Test
  void shouldNotWriteTwiceWhenNoThreadWaitedForTheLostReply() throws Exception {
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 1));
    List<NewEvent> batch = numbered(2, 4);
    CompletableFuture<Boolean> written = new CompletableFuture<>();

    proxy.cutAtNextReplies(1);
    assertThat(writer.appendLater(batch, written::complete)).isTrue();
    assertThat(written.get()).isFalse();
    assertThat(writer.appendLater(numbered(5, 5), _ -> {})).isFalse();
    Position again = writer.append(batch);
    Position next = writer.append(numbered(5, 5));

    assertThat(again.number()).isEqualTo(4);
    assertThat(next.number()).isEqualTo(5);
    assertThat(payloads(readAll(log, ref, Position.START)))
        .containsExactly("1", "2", "3", "4", "5");
  }

  @Test
  void shouldRepeatAnAppendWithALostReplyBeforeOthers() {
    StreamWriter writer = log.open(ref, "1");
    writer.append(numbered(1, 1));
    List<NewEvent> lost = numbered(2, 2);

    proxy.cutAtNextReplies(1);
    assertThatExceptionOfType(LogException.OutcomeUnknown.class)
        .isThrownBy(() -> writer.append(lost));
    Position other = writer.append(numbered(3, 3));
    Position late = writer.append(lost);

    assertThat(other.number()).isEqualTo(3);
    assertThat(late.number()).isEqualTo(2);
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1", "2", "3");
  }

  @Test
  void shouldFindTheLastEventWhoseReplyWasLost() {
    StreamWriter writer = log.open(ref, "1");
    List<NewEvent> end = List.of(event("1"), last("2"));

    proxy.cutAtNextReplies(2);
    assertThatExceptionOfType(LogException.OutcomeUnknown.class)
        .isThrownBy(() -> writer.append(end));
    assertThatExceptionOfType(LogException.OutcomeUnknown.class)
        .isThrownBy(() -> writer.append(end));
    Position position = writer.append(end);

    assertThat(position.number()).isEqualTo(2);
    assertThat(payloads(readAll(log, ref, Position.START))).containsExactly("1", "2");
    assertThat(log.read(ref, position, 1)).isEqualTo(new ReadResult.EndOfStream());
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.append(numbered(3, 3)));
  }

  @Test
  void shouldOpenOnceThoughTheReplyIsLost() {
    proxy.cutAtNextReplies(1);
    StreamWriter writer = log.open(ref, "1");

    assertThat(proxy.cutsLeft()).isZero();
    assertThat(writer.append(numbered(1, 1)).number()).isEqualTo(1);
  }

  /** Many callers lose replies again and again, and each repeats its append. */
  @Test
  void shouldWriteEverythingOnceWhenManyRepliesAreLost() throws Exception {
    StreamWriter writer = log.open(ref, "1");

    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int thread = 0; thread < 20; thread++) {
        String name = "t" + thread + ":";
        running.add(
            executor.submit(() -> {
              for (int i = 0; i < 100; i++) {
                if (i % 10 == 0) {
                  proxy.cutAtNextReplies(1);
                }
                appendWithRetries(writer, List.of(event(name + i)));
              }
            }));
      }
      for (Future<?> future : running) {
        future.get();
      }
    }
    proxy.cutAtNextReplies(0);

    List<LogEvent> read = readAll(log, ref, Position.START);
    assertThat(read).hasSize(2000);
    Map<String, Integer> next = new HashMap<>();
    for (int i = 0; i < read.size(); i++) {
      assertThat(read.get(i).position().number()).isEqualTo(i + 1);
      String payload = payloads(read).get(i);
      String thread = payload.substring(0, payload.indexOf(':') + 1);
      assertThat(payload).isEqualTo(thread + (next.merge(thread, 1, Integer::sum) - 1));
    }
  }
}
