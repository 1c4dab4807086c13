package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.keeping;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * The contract of {@link EventLog}. Every adapter's test extends it. The tests are in the
 * interfaces, by subject.
 */
public abstract class EventLogContract
    implements EventLogReadContract,
        EventLogRetentionContract,
        EventLogSessionContract,
        EventLogWatchContract,
        EventLogConcurrencyContract,
        SharedStreamContract,
        EventLogQuotaContract,
        FlowControlContract,
        DeliveredResultContract,
        StreamIndexContract {

  /** A stream that is not open yet, in a session that has begun. */
  protected final StreamRef ref = new StreamRef(new LogKey("s" + UUID.randomUUID()), "a1");

  /** A log in which nothing expires soon. */
  protected EventLog log;

  private final List<EventLog> created = new ArrayList<>();

  /** {@link #begin} sets the log. */
  @SuppressWarnings("NullAway.Init")
  protected EventLogContract() {}

  /** Creates a log, which {@link #close()} closes. */
  protected abstract EventLog create(Retention retention);

  @Override
  public final EventLog begun(Retention retention) {
    EventLog begun = create(retention);
    created.add(begun);
    begun.begin(ref.key(), "");
    return begun;
  }

  @Override
  public final EventLog log() {
    return log;
  }

  @Override
  public final void useLog(EventLog other) {
    log = other;
  }

  @Override
  public final StreamRef ref() {
    return ref;
  }

  @Override
  public EventLog elsewhere(EventLog here, Retention retention) {
    return begun(retention);
  }

  @Override
  public abstract void pass(Duration time);

  @Override
  public abstract int trimmingStep();

  @BeforeEach
  void begin() {
    log = begun(keeping(1_000_000, 1000));
  }

  @AfterEach
  void close() {
    created.forEach(EventLog::close);
  }
}
