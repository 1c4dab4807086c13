package dev.holdfast.console.calls;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLogContract;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.memory.MemoryEventLog;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A log that records calls behaves as the log does. */
class RecordedLogTest extends EventLogContract {

  private final AtomicLong now = new AtomicLong(1_000_000);
  private final InstantSource clock = () -> Instant.ofEpochMilli(now.get());
  private final List<EventLog> logs = new ArrayList<>();
  private @Nullable StreamIndex index;

  @Override
  protected EventLog create(Retention retention) {
    MemoryEventLog created = new MemoryEventLog(retention, 1 << 30, Long.MAX_VALUE, clock);
    logs.add(created);
    index = created;
    return new RecordedLog(created, new CallRecords(clock));
  }

  @Override
  public EventLog elsewhere(EventLog here, Retention retention) {
    return here;
  }

  @Override
  public void pass(Duration time) {
    now.addAndGet(time.toMillis());
    logs.forEach(EventLog::sweep);
  }

  @Override
  public StreamIndex index() {
    return Objects.requireNonNull(index);
  }

  @Override
  public int trimmingStep() {
    return 0;
  }
}
