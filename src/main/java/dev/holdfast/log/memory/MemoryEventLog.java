package dev.holdfast.log.memory;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogSize;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.SessionEndedException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.Watch;
import dev.holdfast.log.Watcher;
import dev.holdfast.log.WatcherRegistry;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the events in the memory of this process, within a budget of bytes over all streams. For
 * one replica only. It never fails for want of a store.
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
   * @param maxBytes the most bytes that all events together take, with what the objects around them
   *     take; the oldest are purged first, whichever stream they are of
   * @param clock dates the events
   */
  public MemoryEventLog(Retention retention, long maxBytes, InstantSource clock) {
    this.retention = retention;
    this.clock = clock;
    this.budget = new MemoryBudget(maxBytes);
  }

  @Override
  public void begin(String session) {
    sessions.computeIfAbsent(session, id -> new MemorySession());
  }

  @Override
  public void end(String session) {
    MemorySession ended = sessions.remove(session);
    if (ended != null) {
      ended.end().forEach(MemoryStream::vanish);
      watchers.wakeSession(session);
    }
  }

  @Override
  public StreamWriter open(StreamRef stream, String requests, @Nullable String into) {
    MemorySession session = session(stream);
    MemoryStream target = into == null ? null : session.find(into);
    if (into != null && target == null) {
      throw new SessionEndedException(stream);
    }
    MemoryStream opened = new MemoryStream(stream, session, retention, budget, clock, target);
    session.open(stream, opened, retention.maxStreams());
    return new Writer(opened);
  }

  @Override
  public void openShared(StreamRef stream) {
    MemorySession session = session(stream);
    MemoryStream opened = new MemoryStream(stream, session, retention, budget, clock, null);
    session.openShared(stream, opened, retention.maxStreams());
  }

  private MemorySession session(StreamRef stream) {
    MemorySession session = sessions.get(stream.session());
    if (session == null) {
      throw new SessionEndedException(stream);
    }
    return session;
  }

  @Override
  public ReadResult read(StreamRef stream, Position after, int maxEvents) {
    if (maxEvents < 1) {
      throw new IllegalArgumentException("a page has room for at least one event");
    }
    MemoryStream found = find(stream);
    return found == null ? new ReadResult.NoSuchStream() : found.read(after, maxEvents);
  }

  @Override
  public Optional<Position> beforeOldest(StreamRef stream) {
    return Optional.ofNullable(find(stream)).flatMap(MemoryStream::beforeOldest);
  }

  @Override
  public Watch watch(StreamRef stream, Watcher watcher) {
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
      found.retire();
    }
  }

  @Override
  public void sweep() {
    sessions.values().forEach(session -> session.all().forEach(MemoryStream::sweep));
  }

  @Override
  public void check() {
    // The store is this process, and it is alive.
  }

  @Override
  public LogSize depth() {
    return budget.depth();
  }

  @Override
  public void close() {
    List.copyOf(sessions.keySet())
        .forEach(id -> {
          MemorySession session = sessions.remove(id);
          if (session != null) {
            session.end().forEach(MemoryStream::vanish);
          }
        });
  }

  private @Nullable MemoryStream find(StreamRef stream) {
    MemorySession session = sessions.get(stream.session());
    return session == null ? null : session.find(stream.name());
  }

  /** Purges other streams' events too, so it is called under no stream's lock. */
  private void keepToBudget() {
    Optional<StoredEvent> victim = budget.overflow();
    while (victim.isPresent()) {
      victim.get().stream().purgeThrough(victim.get().number());
      victim = budget.overflow();
    }
  }

  private final class Writer implements StreamWriter {
    private final MemoryStream target;

    Writer(MemoryStream target) {
      this.target = target;
    }

    @Override
    public StreamRef stream() {
      return target.ref();
    }

    @Override
    public StreamRef keptIn() {
      return target.keptIn();
    }

    @Override
    public Position append(List<NewEvent> events) {
      NewEvent.requireWellFormed(events);
      Position position = target.append(events);
      keepToBudget();
      watchers.wake(target.keptIn());
      return position;
    }

    /** A store that is never away has always taken the events already. */
    @Override
    public boolean deliverUnlogged(List<NewEvent> events) {
      NewEvent.requireWellFormed(events);
      return false;
    }

    @Override
    public void recordSkipped() {
      // Nothing was passed.
    }

    @Override
    public void recordUpstreamCursor(String upstreamId) {
      // Nobody will take this stream over.
    }
  }
}
