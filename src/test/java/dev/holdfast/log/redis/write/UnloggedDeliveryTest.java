package dev.holdfast.log.redis.write;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.last;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogEvent;
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

/** Reports of a writer that delivered events without the log. */
class UnloggedDeliveryTest {

  private final StreamRef ref = new StreamRef(new LogKey("s"), "a1");
  private final ReportedStore store = new ReportedStore();
  private final RedisStreamWriter writer =
      new RedisStreamWriter(
          ref, ref, store, new ReaderWindow(LogTesting.keeping(100, 10)), new Position(1, 0));

  /** Accepts every report, and runs an action while the first one is on its way. */
  private static final class ReportedStore implements RedisStreamWriter.Store {

    private final List<List<NewEvent>> reports = new ArrayList<>();
    private Runnable duringFirstReport = () -> {};

    @Override
    public Position write(WriterProgress progress, List<NewEvent> batch) {
      reports.add(batch);
      if (reports.size() == 1) {
        duringFirstReport.run();
      }
      Position last = progress.last();
      return new Position(last.millis(), last.number() + batch.size());
    }

    @Override
    public CompletionStage<Position> writeLater(WriterProgress progress, List<NewEvent> batch) {
      return CompletableFuture.completedFuture(write(progress, batch));
    }

    @Override
    public boolean deliverUnlogged(List<LogEvent> events) {
      return true;
    }

    @Override
    public void recordUpstreamCursor(long number, String upstreamId) {
      throw new UnsupportedOperationException("no cursor is recorded here");
    }
  }

  /** The reply to a report without the end must not settle the end, or the stream stays open. */
  @Test
  void shouldReportAnEndThatWasDeliveredDuringAReport() {
    List<Boolean> delivered = new ArrayList<>();
    store.duringFirstReport = () -> delivered.add(writer.deliverUnlogged(List.of(last("2"))));
    delivered.add(writer.deliverUnlogged(List.of(event("1"))));

    writer.recordSkipped();
    writer.recordSkipped();

    assertThat(delivered).containsExactly(true, true);
    assertThat(store.reports).hasSize(2);
    assertThat(store.reports.getFirst()).isEmpty();
    assertThat(store.reports.getLast()).singleElement().matches(NewEvent::last);
  }
}
