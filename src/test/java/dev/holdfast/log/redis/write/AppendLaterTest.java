package dev.holdfast.log.redis.write;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.numbered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReaderWindow;
import dev.holdfast.log.StreamRef;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Appends that no thread waits for. */
class AppendLaterTest {

  private final StreamRef ref = new StreamRef(new LogKey("s"), "a1");
  private final LaterStore store = new LaterStore();
  private final RedisStreamWriter writer =
      new RedisStreamWriter(
          ref, ref, store, new ReaderWindow(LogTesting.keeping(100, 10)), new Position(1, 0));
  private final List<Boolean> results = new ArrayList<>();

  /** Stores what a thread waits for at once, and leaves the rest to the test. */
  private static final class LaterStore implements RedisStreamWriter.Store {

    private final List<List<NewEvent>> written = new ArrayList<>();
    private CompletableFuture<Position> later = new CompletableFuture<>();
    private boolean failsToBegin;

    @Override
    public Position write(WriterProgress progress, List<NewEvent> batch) {
      written.add(batch);
      Position last = progress.last();
      return new Position(last.millis(), last.number() + batch.size());
    }

    @Override
    public CompletionStage<Position> writeLater(WriterProgress progress, List<NewEvent> batch) {
      if (failsToBegin) {
        throw new OutOfMemoryError("planted");
      }
      later = new CompletableFuture<>();
      return later;
    }

    @Override
    public boolean deliverUnlogged(List<LogEvent> events) {
      throw new UnsupportedOperationException("the store is not away here");
    }

    @Override
    public void recordUpstreamCursor(long number, String upstreamId) {
      throw new UnsupportedOperationException("no cursor is recorded here");
    }
  }

  @Test
  void shouldContinueAfterTheLastPosition() {
    assertThat(writer.appendLater(numbered(1, 2), results::add)).isTrue();
    assertThat(results).isEmpty();
    assertThat(writer.appendLater(numbered(3, 3), results::add)).isFalse();

    store.later.complete(new Position(5, 2));

    assertThat(results).containsExactly(true);
    assertThat(writer.append(numbered(3, 3))).isEqualTo(new Position(5, 3));
  }

  @Test
  void shouldWriteAFailedAppendBeforeOthers() {
    List<NewEvent> failed = numbered(1, 1);
    assertThat(writer.appendLater(failed, results::add)).isTrue();

    store.later.completeExceptionally(new IllegalStateException("planted"));

    assertThat(results).containsExactly(false);
    assertThat(writer.appendLater(numbered(2, 2), results::add)).isFalse();
    assertThat(writer.append(numbered(2, 2)).number()).isEqualTo(2);
    assertThat(store.written.getFirst()).isEqualTo(failed);
    assertThat(writer.append(failed).number()).isEqualTo(1);
    assertThat(store.written).hasSize(2);
  }

  /** The pump repeats it, as it repeats every append that fails. */
  @Test
  void shouldReportAnAppendThatCouldNotBegin() {
    List<NewEvent> events = numbered(1, 1);
    store.failsToBegin = true;

    assertThat(writer.appendLater(events, results::add)).isTrue();

    assertThat(results).containsExactly(false);
    assertThat(writer.append(events).number()).isEqualTo(1);
  }

  @Test
  void shouldRefuseAfterTheSessionHasEnded() {
    assertThat(writer.appendLater(numbered(1, 1), results::add)).isTrue();
    writer.fence();
    store.later.completeExceptionally(new LogException.Fenced(ref));

    assertThat(results).containsExactly(false);
    assertThat(writer.appendLater(numbered(2, 2), results::add)).isFalse();
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> writer.append(numbered(2, 2)));
  }

  /** Large batches take turns, which a thread must wait for. */
  @Test
  void shouldLeaveLargeBatchesToAThread() {
    NewEvent large = event("x".repeat(AppendScripts.LARGE));

    assertThat(writer.appendLater(List.of(large), results::add)).isFalse();

    assertThat(writer.append(List.of(large)).number()).isEqualTo(1);
  }
}
