package dev.holdfast.log.redis.write;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The newest events of a stream that this replica writes, in memory for its local tail. Keeps no
 * events while the stream has no local tail and expects none. Drops events that the tail has read.
 *
 * <p>Every event here is stored or was delivered unlogged, so it remains valid when another replica
 * owns the stream. An empty result does not, since the next owner may have written. A write proves
 * the ownership, so one empty result is valid after each write. After that, the reader must ask
 * Redis. Unlogged events are an exception, because Redis does not have them.
 */
public final class RecentEvents {

  private static final long MAX_BYTES = 256 * 1024;
  private static final long EVENT_OVERHEAD = 64;

  /** Position up to which the local tail has read. */
  private enum Tail {
    /** There is no tail, so no events are kept. */
    ABSENT,
    /** The tail reads from Redis, or unread events were dropped since its last read. */
    BEHIND,
    /** The tail reads from here, and no unread event was dropped since its last read. */
    FOLLOWING
  }

  /** Meaning of an empty result for a tail that has all events. */
  private enum End {
    /** A write has proved the ownership, so there is nothing new. Valid for one read. */
    CONFIRMED,
    /** Another owner may have written, so the tail must ask Redis. */
    DOUBTED,
    /** The newest events were delivered unlogged, and Redis does not have them. */
    UNLOGGED,
    /** The stream is complete. */
    COMPLETE;

    End doubt() {
      return this == CONFIRMED ? DOUBTED : this;
    }
  }

  private final ByteBudget budget;

  /** Guards all fields below. */
  private final AutoLock lock = new AutoLock();

  /** The events after {@link #floor} up to {@link #last}. */
  private Deque<LogEvent> events = new ArrayDeque<>(1);

  private Position floor;
  private Position last;
  private long bytes;
  private Tail tail = Tail.BEHIND;
  private End end = End.CONFIRMED;

  /**
   * @param last the position of the last event of a stream that was just opened or claimed
   */
  RecentEvents(ByteBudget budget, Position last) {
    this.budget = budget;
    this.floor = last;
    this.last = last;
  }

  /** Keeps the events from now on, or drops them and keeps none. */
  public void setKept(boolean kept) {
    try (var _ = lock.hold()) {
      if (kept != (tail != Tail.ABSENT)) {
        clear();
        tail = kept ? Tail.BEHIND : Tail.ABSENT;
      }
    }
  }

  boolean isComplete() {
    try (var _ = lock.hold()) {
      return end == End.COMPLETE;
    }
  }

  /** Another owner may have written: a tail that has all events must ask Redis. */
  public void doubt() {
    try (var _ = lock.hold()) {
      end = end.doubt();
    }
  }

  /** Adds the next events, which Redis has just stored. */
  void addStored(List<LogEvent> batch) {
    try (var _ = lock.hold()) {
      last = batch.getLast().position();
      end = batch.getLast().last() ? End.COMPLETE : End.CONFIRMED;
      if (tail != Tail.ABSENT) {
        batch.forEach(this::add);
        keepToBounds();
      }
    }
  }

  /** Drops the events up to a position: the local tail has them. */
  void delivered(Position upTo) {
    try (var _ = lock.hold()) {
      boolean _ = dropThrough(upTo);
    }
  }

  /**
   * Adds the next events, which Redis does not have. Refuses them unless the local tail reads from
   * here and has little left to read, because no other copy exists.
   */
  boolean addUnlogged(List<LogEvent> batch) {
    try (var _ = lock.hold()) {
      if (tail != Tail.FOLLOWING || bytes > MAX_BYTES || budget.isExceeded()) {
        return false;
      }
      last = batch.getLast().position();
      end = End.UNLOGGED;
      batch.forEach(this::add);
      return true;
    }
  }

  /** Notes that the store has recorded all events up to a position. */
  void reported(Position upTo) {
    try (var _ = lock.hold()) {
      if (end == End.DOUBTED || (end == End.UNLOGGED && last.equals(upTo))) {
        end = End.CONFIRMED;
      }
    }
  }

  /** Returns true if a cursor is at the last event that was written here. */
  public boolean isAtEnd(Position cursor) {
    try (var _ = lock.hold()) {
      return tail != Tail.ABSENT && events.isEmpty() && floor.equals(cursor);
    }
  }

  /** Reads the events after a cursor. Returns empty if only Redis knows them. */
  public Optional<ReadResult> read(Position after, int maxEvents, long maxBytes) {
    try (var _ = lock.hold()) {
      if (tail == Tail.ABSENT) {
        return Optional.empty();
      }
      tail = dropThrough(after) ? Tail.FOLLOWING : Tail.BEHIND;
      if (tail == Tail.BEHIND) {
        return Optional.empty();
      }
      return events.isEmpty()
          ? readEnd()
          : Optional.of(new ReadResult.Events(first(maxEvents, maxBytes)));
    }
  }

  private Optional<ReadResult> readEnd() {
    return switch (end) {
      case COMPLETE -> Optional.of(new ReadResult.EndOfStream());
      case DOUBTED -> Optional.empty();
      case CONFIRMED, UNLOGGED -> {
        end = end.doubt();
        yield Optional.of(new ReadResult.Events(List.of()));
      }
    };
  }

  private void add(LogEvent event) {
    events.addLast(event);
    long size = size(event);
    bytes += size;
    budget.take(size);
  }

  /** Drops events beyond the bounds. A slow tail then reads from Redis until it has caught up. */
  private void keepToBounds() {
    if (budget.isExceeded()) {
      clear();
    }
    while (bytes > MAX_BYTES) {
      tail = Tail.BEHIND;
      dropFirst();
    }
  }

  private void clear() {
    budget.giveBack(bytes);
    bytes = 0;
    floor = last;
    tail = Tail.BEHIND;
    events = new ArrayDeque<>(1);
  }

  private void dropFirst() {
    LogEvent first = events.removeFirst();
    floor = first.position();
    long size = size(first);
    bytes -= size;
    budget.giveBack(size);
  }

  /** Drops the events up to a cursor. Returns whether the events after it are here. */
  private boolean dropThrough(Position after) {
    while (floor.number() < after.number() && !events.isEmpty()) {
      dropFirst();
    }
    return floor.equals(after);
  }

  private List<LogEvent> first(int maxEvents, long maxBytes) {
    List<LogEvent> page = new ArrayList<>(Math.min(maxEvents, events.size()));
    long room = maxBytes;
    for (LogEvent event : events) {
      room -= event.payload().length;
      if (page.size() == maxEvents || (room < 0 && !page.isEmpty())) {
        break;
      }
      page.add(event);
    }
    return page;
  }

  private static long size(LogEvent event) {
    return EVENT_OVERHEAD + event.payload().length;
  }
}
