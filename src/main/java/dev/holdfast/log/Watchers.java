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
public final class Watchers {

  private final AtomicLong numbers = new AtomicLong();
  private final Map<String, Map<String, Seat>> sessions = new ConcurrentHashMap<>();

  /**
   * Seats a watcher and evicts the one that had the seat.
   *
   * @param left runs once, when the seat is given up or taken over
   */
  public Seat seat(StreamRef stream, Watcher watcher, Runnable left) {
    Seat seat = new Seat(this, stream, watcher, numbers.incrementAndGet(), left);
    List<Seat> former = new ArrayList<>(1);
    sessions.compute(
        stream.session(),
        (session, seats) -> {
          Map<String, Seat> all = seats == null ? new ConcurrentHashMap<>(4) : seats;
          Seat before = all.put(stream.name(), seat);
          if (before != null) {
            former.add(before);
          }
          return all;
        });
    former.forEach(Seat::evicted);
    return seat;
  }

  /** Whether somebody of this process watches the stream. */
  public boolean isWatched(StreamRef stream) {
    return find(stream) != null;
  }

  /** Wakes the stream's watcher, if there is one. */
  public void wake(StreamRef stream) {
    Seat seat = find(stream);
    if (seat != null) {
      seat.wake();
    }
  }

  /** Wakes all watchers of a session. */
  public void wakeSession(String session) {
    Map<String, Seat> seats = sessions.get(session);
    if (seats != null) {
      seats.values().forEach(Seat::wake);
    }
  }

  /** Wakes everyone. */
  public void wakeAll() {
    sessions.values().forEach(seats -> seats.values().forEach(Seat::wake));
  }

  /** The seats that are known to whoever wakes their watchers. */
  public List<Seat> confirmed() {
    return sessions.values().stream()
        .flatMap(seats -> seats.values().stream())
        .filter(seat -> seat.confirmed)
        .toList();
  }

  /**
   * Evicts the stream's watcher if it still has the numbered seat; a newer one stays.
   *
   * @param number {@link Seat#number()}
   */
  public void evict(StreamRef stream, long number) {
    Seat seat = find(stream);
    if (seat != null && seat.number == number && remove(seat)) {
      seat.evicted();
    }
  }

  private @Nullable Seat find(StreamRef stream) {
    Map<String, Seat> seats = sessions.get(stream.session());
    return seats == null ? null : seats.get(stream.name());
  }

  private boolean remove(Seat seat) {
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
  public static final class Seat implements Watch {
    private final Watchers watchers;
    private final StreamRef stream;
    private final Watcher watcher;
    private final long number;
    private final Runnable left;

    /** Set once, by the thread that takes the seat. */
    private volatile boolean confirmed;

    private Seat(Watchers watchers, StreamRef stream, Watcher watcher, long number, Runnable left) {
      this.watchers = watchers;
      this.stream = stream;
      this.watcher = watcher;
      this.number = number;
      this.left = left;
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
    public void confirm() {
      confirmed = true;
    }

    private void wake() {
      watcher.wake();
    }

    private void evicted() {
      left.run();
      watcher.evicted();
    }

    @Override
    public void close() {
      if (watchers.remove(this)) {
        left.run();
      }
    }
  }
}
