package dev.holdfast.log.memory;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLog.Watcher;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.ReaderWindow;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.WatcherRegistry;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps events in the memory of this process, within one byte budget for all streams. For one
 * replica only. It is never unavailable.
 */
public final class MemoryEventLog implements EventLog, StreamIndex {

  private final Retention retention;
  private final InstantSource clock;
  private final MemoryBudget budget;
  private final Map<LogKey, MemorySession> sessions = new ConcurrentHashMap<>();
  private final WatcherRegistry watchers = new WatcherRegistry();

  /**
   * Creates an empty log.
   *
   * @param maxBytes byte budget for all events, including the objects around them
   * @param maxClientBytes the same for the sessions of one client
   * @param clock time source of the events
   */
  public MemoryEventLog(
      Retention retention, long maxBytes, long maxClientBytes, InstantSource clock) {
    this.retention = retention;
    this.clock = clock;
    this.budget = new MemoryBudget(maxBytes, maxClientBytes);
  }

  @Override
  public void begin(LogKey session, String client) {
    sessions.computeIfAbsent(session, _ -> new MemorySession(retention, budget, client, clock));
  }

  @Override
  public void end(LogKey session) {
    MemorySession ended = sessions.remove(session);
    if (ended != null) {
      ended.end();
      watchers.wakeAll(session);
    }
  }

  @Override
  public StreamWriter open(
      StreamRef stream, String requests, String tool, @Nullable String sharedStream) {
    MemorySession session = session(stream);
    Writer writer = new Writer(session, session.open(stream, requests, tool, sharedStream));
    if (sharedStream != null) {
      watchers.requested(new StreamRef(stream.key(), sharedStream), requests);
    }
    return writer;
  }

  @Override
  public void openShared(StreamRef stream) {
    session(stream).openShared(stream);
  }

  private MemorySession session(StreamRef stream) {
    MemorySession session = sessions.get(stream.key());
    if (session == null) {
      throw new LogException.SessionEnded(stream);
    }
    return session;
  }

  @Override
  public ReadResult read(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    if (maxEvents < 1) {
      throw new IllegalArgumentException("maxEvents must be positive");
    }
    MemorySession found = sessions.get(stream.key());
    return found == null
        ? new ReadResult.NoSuchStream()
        : found.read(stream.name(), after, maxEvents, maxBytes);
  }

  @Override
  public Optional<Position> newest(StreamRef stream) {
    return find(stream, Optional.empty(), MemoryStream::newestPosition);
  }

  @Override
  public Optional<Position> newestUntil(StreamRef stream, long millis) {
    return find(stream, Optional.empty(), found -> found.newestUntil(millis));
  }

  @Override
  public Optional<Position> beforeOldest(StreamRef stream) {
    return find(stream, Optional.empty(), MemoryStream::beforeOldest);
  }

  @Override
  public EventLog.Watch watch(StreamRef stream, @Nullable Position cursor, Watcher watcher) {
    WatcherRegistry.Registration registration =
        watchers.register(
            stream, watcher, number -> change(stream, watched -> watched.disconnect(number)));
    change(
        stream,
        watched -> {
          // A newer reader may have replaced this one.
          if (watchers.isCurrent(registration)) {
            Position from = cursor == null ? watched.delivered() : cursor;
            watched.connect(registration.number(), from);
          }
        });
    registration.setRequests(find(stream, "", MemoryStream::openRequests));
    registration.setReader(
        at -> change(stream, read -> read.markDelivered(at, registration.number())));
    return registration;
  }

  private void change(StreamRef stream, Consumer<MemoryStream> action) {
    MemorySession session = sessions.get(stream.key());
    if (session != null) {
      session.change(stream.name(), action);
    }
  }

  @Override
  public boolean isWrittenHere(StreamRef stream) {
    return find(stream, false, _ -> true);
  }

  @Override
  public EventLog.Watch watchShared(StreamRef stream, Watcher watcher) {
    return watchers.share(stream, watcher);
  }

  @Override
  public void markDelivered(StreamRef stream, Position position) {
    change(stream, read -> read.markDelivered(position, MemoryStream.NOBODY));
  }

  @Override
  public Position deliveredUpTo(StreamRef stream) {
    return find(stream, Position.START, MemoryStream::delivered);
  }

  @Override
  public void markFullyDelivered(StreamRef stream, boolean keep) {
    long expires = keep ? Long.MAX_VALUE : clock.millis() + retention.completedTtl().toMillis();
    change(stream, read -> read.markFullyDelivered(expires));
  }

  @Override
  public void sweep() {
    sessions.values().forEach(MemorySession::sweep);
  }

  @Override
  public List<List<StreamIndex.Connection>> followed(List<LogKey> keys) {
    return keys.stream().map(watchers::connections).toList();
  }

  @Override
  public StreamIndex.Page list(LogKey session, long skip, int most) {
    MemorySession found = sessions.get(session);
    return found == null ? new StreamIndex.Page(List.of(), false) : found.list(skip, most);
  }

  @Override
  public Optional<StreamIndex.Entry> find(StreamRef stream) {
    return find(stream, Optional.empty(), found -> Optional.of(found.entry(clock.millis())));
  }

  @Override
  public byte[] newestMessage(StreamRef stream) {
    return find(stream, new byte[0], MemoryStream::newestMessage);
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

  private <T> T find(StreamRef stream, T none, Function<MemoryStream, T> action) {
    MemorySession session = sessions.get(stream.key());
    return session == null ? none : session.with(stream.name(), none, action);
  }

  private final class Writer implements StreamWriter {
    private final MemorySession session;
    private final MemoryStream written;
    private final ReaderWindow window;

    /** Bytes that the next append has room for. Owned by the thread that appends. */
    private long taken;

    private volatile boolean stopped;

    Writer(MemorySession session, MemoryStream written) {
      this.session = session;
      this.written = written;
      this.window = written.keeper().window();
    }

    @Override
    public StreamRef stream() {
      return written.ref();
    }

    @Override
    public StreamRef keptIn() {
      return written.keeper().ref();
    }

    @Override
    public boolean isFollowed() {
      return window.isFollowed();
    }

    @Override
    public Position append(List<NewEvent> events) {
      NewEvent.requireWellFormed(events);
      Position before = session.locked(written::last);
      Position position;
      try {
        position = session.append(written, events, this::giveBack);
      } finally {
        giveBack();
      }
      List<LogEvent> stored = LogEvent.of(events, position, true);
      boolean _ = watchers.deliver(stream(), keptIn(), before, stored);
      return position;
    }

    @Override
    public boolean hasRoom(List<NewEvent> events) {
      return stopped || (!window.isClosed() && takeRoom(events));
    }

    private boolean takeRoom(List<NewEvent> events) {
      if (taken == 0) {
        long needed = budget.roomFor(bytes(events));
        taken = budget.tryTake(session.account(), needed) ? needed : 0;
      }
      return taken > 0;
    }

    private void giveBack() {
      if (taken > 0) {
        budget.giveBack(taken);
        taken = 0;
      }
    }

    private static long bytes(List<NewEvent> events) {
      return NewEvent.bytes(events) + (long) StoredEvent.OVERHEAD * events.size();
    }

    @Override
    public void awaitRoom(List<NewEvent> events) throws InterruptedException {
      window.await(() -> stopped, () -> session.run(() -> written.stopExpecting(clock.millis())));
      if (!stopped && !takeRoom(events)) {
        long needed = budget.roomFor(bytes(events));
        taken = budget.take(session.account(), needed, () -> stopped) ? needed : 0;
      }
    }

    @Override
    public void stopWaiting() {
      stopped = true;
      window.wake();
      budget.wakeWaiting();
    }

    /** Appends at once, since this log never waits by itself. */
    @Override
    public boolean appendLater(List<NewEvent> events, Consumer<Boolean> then) {
      try {
        Position _ = append(events);
      } catch (LogException.Fenced fenced) {
        return false;
      }
      then.accept(true);
      return true;
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
