package dev.holdfast.log.memory;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLog.Watcher;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.WatcherRegistry;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps events in the memory of this process, within one byte budget for all streams. For one
 * replica only. It is never unavailable.
 */
public final class MemoryEventLog implements EventLog {

  private final Retention retention;
  private final InstantSource clock;
  private final MemoryBudget budget;
  private final Map<String, MemorySession> sessions = new ConcurrentHashMap<>();
  private final WatcherRegistry watchers = new WatcherRegistry();

  /**
   * Creates an empty log.
   *
   * @param maxBytes byte budget for all events, including the objects around them; the oldest event
   *     of all streams is purged first
   * @param clock time source of the events
   */
  public MemoryEventLog(Retention retention, long maxBytes, InstantSource clock) {
    this.retention = retention;
    this.clock = clock;
    this.budget = new MemoryBudget(maxBytes);
  }

  @Override
  public void begin(String session) {
    sessions.computeIfAbsent(session, _ -> new MemorySession(retention, budget, clock));
  }

  @Override
  public void end(String session) {
    MemorySession ended = sessions.remove(session);
    if (ended != null) {
      ended.end();
      watchers.wakeSession(session);
    }
  }

  @Override
  public StreamWriter open(StreamRef stream, String requests, @Nullable String sharedStream) {
    return new Writer(session(stream).open(stream, sharedStream));
  }

  @Override
  public void openShared(StreamRef stream) {
    session(stream).openShared(stream);
  }

  private MemorySession session(StreamRef stream) {
    MemorySession session = sessions.get(stream.session());
    if (session == null) {
      throw new LogException.SessionEnded(stream);
    }
    return session;
  }

  @Override
  public ReadResult read(StreamRef stream, Position after, int maxEvents) {
    if (maxEvents < 1) {
      throw new IllegalArgumentException("maxEvents must be positive");
    }
    MemoryStream found = find(stream);
    return found == null ? new ReadResult.NoSuchStream() : found.read(after, maxEvents);
  }

  @Override
  public Optional<Position> beforeOldest(StreamRef stream) {
    return Optional.ofNullable(find(stream)).flatMap(MemoryStream::beforeOldest);
  }

  @Override
  public EventLog.Watch watch(StreamRef stream, Watcher watcher) {
    return watchers.register(stream, watcher, () -> {});
  }

  @Override
  public boolean isWrittenHere(StreamRef stream) {
    return find(stream) != null;
  }

  @Override
  public void markDelivered(StreamRef stream, Position position) {
    MemoryStream found = find(stream);
    if (found != null) {
      found.markDelivered(position);
    }
  }

  @Override
  public Position deliveredUpTo(StreamRef stream) {
    MemoryStream found = find(stream);
    return found == null ? Position.START : found.delivered();
  }

  @Override
  public void markFullyDelivered(StreamRef stream) {
    MemoryStream found = find(stream);
    if (found != null) {
      found.markFullyDelivered();
    }
  }

  @Override
  public void sweep() {
    sessions.values().forEach(session -> session.all().forEach(MemoryStream::sweep));
  }

  @Override
  public void check() {
    // The memory of a running process is always available.
  }

  @Override
  public EventLog.Size depth() {
    return budget.size();
  }

  @Override
  public void close() {
    sessions.values().forEach(MemorySession::end);
    sessions.clear();
  }

  private @Nullable MemoryStream find(StreamRef stream) {
    MemorySession session = sessions.get(stream.session());
    return session == null ? null : session.find(stream.name());
  }

  /** The caller must not hold a stream's lock, since this purges events of other streams too. */
  private void purgeOverflow() {
    Optional<StoredEvent> released = budget.releaseOverflow();
    while (released.isPresent()) {
      released.get().purge();
      released = budget.releaseOverflow();
    }
  }

  private final class Writer implements StreamWriter {
    private final MemoryStream written;

    Writer(MemoryStream written) {
      this.written = written;
    }

    @Override
    public StreamRef stream() {
      return written.ref();
    }

    @Override
    public StreamRef keptIn() {
      return written.keptIn();
    }

    @Override
    public Position append(List<NewEvent> events) {
      NewEvent.requireWellFormed(events);
      Position position = written.append(events);
      purgeOverflow();
      watchers.wake(written.keptIn());
      return position;
    }

    /** Does nothing, since this log accepts every event. */
    @Override
    public boolean deliverUnlogged(List<NewEvent> events) {
      NewEvent.requireWellFormed(events);
      return false;
    }

    @Override
    public void recordSkipped() {
      // Every event is in the log.
    }

    @Override
    public void recordUpstreamCursor(String upstreamId) {
      // No other replica adopts this stream.
    }
  }
}
