package dev.holdfast.log;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The watchers of this process: at most one per stream, besides those that share it. A new watcher
 * evicts the previous one. All adapters of {@link EventLog} use this class. Thread-safe; calls
 * watchers without holding a lock.
 */
public final class WatcherRegistry {

  /** Microseconds. A smaller number is that of a tail recorded on opening, or of an old replica. */
  private static final long FIRST_TIME = 1L << 50;

  private final AtomicLong numbers = new AtomicLong();
  private final Map<LogKey, Map<String, Registration>> byKey = new ConcurrentHashMap<>();
  private final Map<StreamRef, Set<EventLog.Watcher>> sharing = new ConcurrentHashMap<>();

  /**
   * Registers a watcher and evicts the previous one of the stream.
   *
   * @param onRemoval gets the number of the registration once it is closed or evicted
   */
  public Registration register(StreamRef stream, EventLog.Watcher watcher, LongConsumer onRemoval) {
    Registration registration = new Registration(stream, watcher, onRemoval);
    AtomicReference<@Nullable Registration> previous = new AtomicReference<>();
    byKey.compute(
        stream.key(),
        (_, known) -> {
          Map<String, Registration> all = known == null ? new ConcurrentHashMap<>(4) : known;
          previous.set(all.put(stream.name(), registration));
          return all;
        });
    Registration evicted = previous.get();
    if (evicted != null) {
      evicted.evict();
    }
    return registration;
  }

  /** Adds a watcher as {@link EventLog#watchShared} says. */
  public EventLog.Watch share(StreamRef stream, EventLog.Watcher watcher) {
    sharing.compute(
        stream,
        (_, known) -> {
          Set<EventLog.Watcher> all = known == null ? ConcurrentHashMap.newKeySet() : known;
          all.add(watcher);
          return all;
        });
    return () ->
        sharing.computeIfPresent(
            stream, (_, all) -> all.remove(watcher) && all.isEmpty() ? null : all);
  }

  /** Returns whether this process watches the stream, and does not share it. */
  public boolean isWatched(StreamRef stream) {
    return find(stream) != null;
  }

  /** The streams of a session that this process watches. */
  public List<StreamIndex.Connection> connections(LogKey key) {
    return byKey.getOrDefault(key, Map.of()).values().stream()
        .map(each -> new StreamIndex.Connection(each.stream.name(), registered(each.number)))
        .toList();
  }

  /** Returns when a registration began; null for a number without a time. */
  public static @Nullable Instant registered(long number) {
    return number < FIRST_TIME ? null : Instant.EPOCH.plus(number, ChronoUnit.MICROS);
  }

  /** Wakes the watchers of a stream. */
  public void wake(StreamRef stream) {
    Registration registration = find(stream);
    if (registration != null) {
      registration.watcher.wake();
    }
    wakeSharing(stream);
  }

  private void wakeSharing(StreamRef stream) {
    sharing.getOrDefault(stream, Set.of()).forEach(EventLog.Watcher::wake);
  }

  /**
   * Lets the watcher of a stream deliver events that were just stored, or else wakes the one of the
   * stream that keeps them. Events that another stream keeps have other positions there. Those that
   * share the stream are woken in both cases.
   *
   * @param keptIn the stream itself, or the one that keeps its events
   * @param before position of the event before them
   * @return whether the watcher delivers them
   */
  public boolean deliver(
      StreamRef stream, StreamRef keptIn, Position before, List<LogEvent> events) {
    Registration registration = keptIn.equals(stream) ? find(stream) : null;
    boolean delivers = registration != null && registration.watcher.deliver(before, events);
    if (!delivers) {
      wake(keptIn);
    } else if (!sharing.isEmpty()) {
      wakeSharing(keptIn);
    }
    return delivers;
  }

  /** Tells the watcher of a shared stream that its client awaits requests. */
  public void requested(StreamRef shared, String requests) {
    Registration registration = find(shared);
    if (registration != null) {
      registration.watcher.requested(requests);
    }
  }

  /** Wakes all watchers of an owner's streams. */
  public void wakeAll(LogKey key) {
    byKey.getOrDefault(key, Map.of()).values().forEach(each -> each.watcher.wake());
    sharing.keySet().stream().filter(stream -> stream.key().equals(key)).forEach(this::wake);
  }

  /** Wakes all watchers. */
  public void wakeAll() {
    byKey.keySet().forEach(this::wakeAll);
    sharing.keySet().forEach(this::wake);
  }

  /** The registrations that the store has recorded. */
  public List<Registration> recorded() {
    return byKey.values().stream()
        .flatMap(registrations -> registrations.values().stream())
        .filter(registration -> registration.recorded)
        .toList();
  }

  /** The streams that watchers share. */
  public Set<StreamRef> shared() {
    return Set.copyOf(sharing.keySet());
  }

  /**
   * Evicts the watcher of a stream if it has the given registration number. A newer watcher stays.
   */
  public void evict(StreamRef stream, long number) {
    Registration registration = find(stream);
    if (registration != null && registration.number == number && remove(registration)) {
      registration.evict();
    }
  }

  /** Returns true if a registration was neither closed nor evicted. */
  public boolean isCurrent(Registration registration) {
    return find(registration.stream) == registration;
  }

  private @Nullable Registration find(StreamRef stream) {
    return byKey.getOrDefault(stream.key(), Map.of()).get(stream.name());
  }

  private boolean remove(Registration registration) {
    AtomicBoolean removed = new AtomicBoolean();
    byKey.computeIfPresent(
        registration.stream.key(),
        (_, registrations) -> {
          removed.set(registrations.remove(registration.stream.name(), registration));
          return registrations.isEmpty() ? null : registrations;
        });
    return removed.get();
  }

  /** One registered watcher. */
  public final class Registration implements EventLog.Watch {
    private final StreamRef stream;
    private final EventLog.Watcher watcher;
    private final long number =
        numbers.updateAndGet(last -> Math.max(last + 1, System.currentTimeMillis() * 1000));
    private final LongConsumer onRemoval;

    /** Set once, by the registering thread. */
    private volatile boolean recorded;

    // Owned by the registering thread.
    private String requests = "";
    private Consumer<Position> reader = _ -> {};

    private Registration(StreamRef stream, EventLog.Watcher watcher, LongConsumer onRemoval) {
      this.stream = stream;
      this.watcher = watcher;
      this.onRemoval = onRemoval;
    }

    /**
     * A positive number, unique in this process. Later registrations have higher numbers. It is the
     * time in microseconds; see {@link WatcherRegistry#registered}.
     */
    public long number() {
      return number;
    }

    /** The watched stream. */
    public StreamRef stream() {
      return stream;
    }

    /** Marks this registration as recorded in the store: writers on other replicas can wake it. */
    public void markRecorded() {
      recorded = true;
    }

    /** Sets the result of {@link #requests()}. */
    public void setRequests(String ids) {
      requests = ids;
    }

    /** Sets what hears of the positions that the client has, until another watcher comes. */
    public void setReader(Consumer<Position> positions) {
      reader = positions;
    }

    @Override
    public String requests() {
      return requests;
    }

    @Override
    public void advanced(Position cursor, long bytes) {
      if (isCurrent(this)) {
        reader.accept(cursor);
      }
    }

    private void evict() {
      onRemoval.accept(number);
      watcher.evicted();
    }

    @Override
    public void close() {
      if (remove(this)) {
        onRemoval.accept(number);
      }
    }
  }
}
