package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReaderWindow;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.OwnedStream;
import dev.holdfast.log.redis.write.OwnedStreams;
import dev.holdfast.log.redis.write.StreamReports;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Readers on this replica. Redis records where they are, for writers on other replicas, which may
 * wait for them. At most one record of a stream is in flight. Positions that are added meanwhile
 * become one record. Thread-safe.
 */
final class LocalReaders {

  /**
   * Records that are removed at a time. Thousands of clients may leave at once, and others write.
   */
  private static final int MOST_REMOVALS = 64;

  private final StreamScripts scripts;
  private final WatcherRegistry watchers;
  private final OwnedStreams owned;
  private final Retention retention;
  private final StreamReports reports;

  /** The newest positions, of streams of which Redis may not have it. */
  private final Map<StreamRef, Position> unrecorded = new ConcurrentHashMap<>();

  private final Set<StreamRef> inFlight = ConcurrentHashMap.newKeySet();

  /** Tails that have left, whose records are to be removed. */
  private final Queue<Departed> departed = new ConcurrentLinkedQueue<>();

  /** Tails whose records Redis did not remove at the last attempt. */
  private final Queue<Departed> unremoved = new ConcurrentLinkedQueue<>();

  private final Semaphore removals = new Semaphore(MOST_REMOVALS);

  private record Departed(StreamRef stream, long number, CompletableFuture<?> removed) {}

  LocalReaders(
      StreamScripts scripts,
      WatcherRegistry watchers,
      OwnedStreams owned,
      Retention retention,
      StreamReports reports) {
    this.scripts = scripts;
    this.watchers = watchers;
    this.owned = owned;
    this.retention = retention;
    this.reports = reports;
  }

  /** Watches a stream as {@link EventLog#watch} promises. */
  EventLog.Watch watch(StreamRef stream, @Nullable Position cursor, EventLog.Watcher watcher) {
    OwnedStream own = owned.find(stream);
    // Register before the script runs: an eviction must find the watcher.
    WatcherRegistry.Registration registration =
        watchers.register(stream, watcher, number -> owned.tailLeft(stream, number));
    boolean first = own != null && own.takeRecordedTail(registration.number());
    RecordedWatch watch = new RecordedWatch(registration, first ? 0 : registration.number());
    try {
      if (!first) {
        registration.setRequests(
            available(
                "watch a stream",
                () -> scripts.registerTail(stream, registration.number(), cursor)));
      }
      watch.connect(cursor);
    } catch (LogException.StoreUnavailable unavailable) {
      registration.close();
      throw unavailable;
    }
    registration.markRecorded();
    if (own != null) {
      own.recent().setKept(true);
    }
    return watch;
  }

  /** Records the position up to which a stream was delivered, without waiting. */
  void record(StreamRef stream, Position position) {
    unrecorded.merge(stream, position, (last, next) -> next.compareTo(last) > 0 ? next : last);
    send(stream);
  }

  private void send(StreamRef stream) {
    Position position = unrecorded.get(stream);
    if (position == null || !inFlight.add(stream)) {
      return;
    }
    scripts
        .recordDelivery(stream, position)
        .whenComplete((_, failure) -> {
          inFlight.remove(stream);
          if (failure == null) {
            unrecorded.remove(stream, position);
            send(stream); // A newer position may have been added.
          }
        });
  }

  /** Repeats what Redis did not take. */
  void repeat() {
    unrecorded.keySet().forEach(this::send);
    for (Departed next = unremoved.poll(); next != null; next = unremoved.poll()) {
      departed.add(next);
    }
    removeNext();
  }

  /**
   * Removes records until enough are on their way. Each that is removed makes room for the next.
   */
  private void removeNext() {
    while (!departed.isEmpty() && removals.tryAcquire()) {
      Departed next = departed.poll();
      if (next == null) {
        removals.release();
        return;
      }
      scripts
          .removeTail(next.stream(), next.number())
          .whenComplete((_, failure) -> {
            removals.release();
            if (failure == null) {
              next.removed().complete(null);
              removeNext();
            } else {
              unremoved.add(next);
            }
          });
    }
  }

  /** The position up to which a stream was delivered, as {@link EventLog#deliveredUpTo}. */
  Position deliveredUpTo(StreamRef stream) {
    Position position = unrecorded.get(stream);
    if (position != null) {
      return position;
    }
    List<@Nullable Response> stored =
        available("read a session", () -> scripts.get(StreamField.DELIVERED, List.of(stream)));
    return Optional.ofNullable(stored.getFirst())
        .flatMap(text -> Position.parse(text.toString()))
        .orElse(Position.START);
  }

  /** A watch whose tail is on record. */
  private final class RecordedWatch implements EventLog.Watch {

    private final WatcherRegistry.Registration registration;
    private final long number;

    // Events and bytes that the writers on other replicas have not heard of. Owned by the reader.
    private long last;
    private long events;
    private long unreported;

    /** The removal of the record, once the reader has left. */
    private @Nullable CompletableFuture<?> removal;

    RecordedWatch(WatcherRegistry.Registration registration, long number) {
      this.registration = registration;
      this.number = number;
    }

    @Override
    public String requests() {
      return registration.requests();
    }

    private void connect(@Nullable Position cursor) {
      last = cursor == null ? 0 : cursor.number();
      ReaderWindow window = owned.window(registration.stream());
      if (window != null) {
        Position from = cursor == null ? deliveredUpTo(registration.stream()) : cursor;
        last = from.number();
        window.connect(registration.number(), from);
        if (!watchers.isCurrent(registration)) {
          window.disconnect(registration.number()); // It was evicted meanwhile.
        }
      }
    }

    /** Tells the writers of another replica now and then, and those of this one at once. */
    @Override
    public void advanced(Position cursor, long bytes) {
      StreamRef stream = registration.stream();
      ReaderWindow window = owned.window(stream);
      if (!watchers.isCurrent(registration)) {
        return;
      }
      if (window != null) {
        window.advance(registration.number(), cursor);
      }
      if (owned.find(stream) != null) {
        return; // No other replica writes it.
      }
      events += cursor.number() - last;
      last = cursor.number();
      unreported += bytes;
      if (events >= ReaderWindow.maxEvents(retention) / 2
          || unreported >= ReaderWindow.maxBytes(retention) / 2) {
        events = 0;
        unreported = 0;
        record(stream, cursor);
      }
    }

    @Override
    public void leave(boolean mayBeComplete) {
      Departed tail = new Departed(registration.stream(), number, new CompletableFuture<>());
      removal = mayBeComplete ? tail.removed() : null;
      departed.add(tail);
      removeNext();
    }

    @Override
    public void close() {
      registration.close();
      if (removal != null) {
        // After the writer and Redis have heard of it: the stream must not count as read later.
        var _ = removal.thenRun(() -> reports.left(registration.stream()));
      }
    }
  }
}
