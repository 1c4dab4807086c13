package dev.holdfast.log;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The watchers of this process: at most one per stream, of which the newest evicts the one before.
 * Adapters of {@link EventLog} share it. Thread-safe; no watcher is called under a lock of this
 * class.
 */
public final class WatcherRegistry {

  private final AtomicLong numbers = new AtomicLong();
  private final Map<String, Map<String, Registration>> sessions = new ConcurrentHashMap<>();

  /**
   * Seats a watcher and evicts the one that had the seat.
   *
   * @param left runs once, when the seat is given up or taken over
   */
  public Registration register(StreamRef stream, Watcher watcher, Runnable left) {
    Registration seat = new Registration(this, stream, watcher, numbers.incrementAndGet(), left);
    List<Registration> former = new ArrayList<>(1);
    sessions.compute(
        stream.session(),
        (session, seats) -> {
          Map<String, Registration> all = seats == null ? new ConcurrentHashMap<>(4) : seats;
          Registration before = all.put(stream.name(), seat);
          if (before != null) {
            former.add(before);
          }
          return all;
        });
    former.forEach(Registration::evicted);
    return seat;
  }

  /** Whether somebody of this process watches the stream. */
  public boolean isWatched(StreamRef stream) {
    return find(stream) != null;
  }

  /** Wakes the stream's watcher, if there is one. */
  public void wake(StreamRef stream) {
    Registration seat = find(stream);
    if (seat != null) {
      seat.wake();
    }
  }

  /** Wakes all watchers of a session. */
  public void wakeSession(String session) {
    Map<String, Registration> seats = sessions.get(session);
    if (seats != null) {
      seats.values().forEach(Registration::wake);
    }
  }

  /** Wakes everyone. */
  public void wakeAll() {
    sessions.values().forEach(seats -> seats.values().forEach(Registration::wake));
  }

  /** The seats that are known to whoever wakes their watchers. */
  public List<Registration> recorded() {
    return sessions.values().stream()
        .flatMap(seats -> seats.values().stream())
        .filter(seat -> seat.recorded)
        .toList();
  }

  /**
   * Evicts the stream's watcher if it still has the numbered seat; a newer one stays.
   *
   * @param number {@link Seat#number()}
   */
  public void evict(StreamRef stream, long number) {
    Registration seat = find(stream);
    if (seat != null && seat.number == number && remove(seat)) {
      seat.evicted();
    }
  }

  private @Nullable Registration find(StreamRef stream) {
    Map<String, Registration> seats = sessions.get(stream.session());
    return seats == null ? null : seats.get(stream.name());
  }

  private boolean remove(Registration seat) {
    boolean[] removed = new boolean[1];
    sessions.computeIfPresent(
        seat.stream.session(),
        (session, seats) -> {
          removed[0] = seats.remove(seat.stream.name(), seat);
          return seats.isEmpty() ? null : seats;
        });
    return removed[0];
  }

  /** A watcher in its place. */
  public static final class Registration implements Watch {
    private final WatcherRegistry watchers;
    private final StreamRef stream;
    private final Watcher watcher;
    private final long number;
    private final Runnable onRemoval;

    /** Set once, by the thread that takes the seat. */
    private volatile boolean recorded;

    private Registration(
        WatcherRegistry watchers, StreamRef stream, Watcher watcher, long number, Runnable left) {
      this.watchers = watchers;
      this.stream = stream;
      this.watcher = watcher;
      this.number = number;
      this.onRemoval = left;
    }

    /** Tells this seat from all before and after it in this process; positive. */
    public long number() {
      return number;
    }

    /** The stream that is watched. */
    public StreamRef stream() {
      return stream;
    }

    /** Notes that the seat is known to whoever wakes its watcher. */
    public void markRecorded() {
      recorded = true;
    }

    private void wake() {
      watcher.wake();
    }

    private void evicted() {
      onRemoval.run();
      watcher.evicted();
    }

    @Override
    public void close() {
      if (watchers.remove(this)) {
        onRemoval.run();
      }
    }
  }
}
