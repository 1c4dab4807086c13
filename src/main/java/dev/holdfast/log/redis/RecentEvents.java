package dev.holdfast.log.redis;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The newest events of a stream that this replica writes, in memory for its local tail. It holds
 * nothing while none is there or expected, and drops what the tail has read.
 *
 * <p>All it holds is committed, or was passed by the log for want of a store, so what it answers is
 * true whoever owns the stream by now. Only that there is nothing new it may not say on and on:
 * another owner may have written since. It says so once after each commit, which has proved the
 * ownership; whoever asks again asks Redis. While something is passed Redis does not know of it,
 * and is not asked.
 */
final class RecentEvents {

  private static final long MAX_BYTES = 256 * 1024;
  private static final long EVENT_OVERHEAD = 64;

  private final ByteBudget budget;
  private final ReentrantLock lock = new ReentrantLock();

  /** Those that follow {@link #floor} up to {@link #last}. All fields are guarded by the lock. */
  private Deque<LogEvent> events = new ArrayDeque<>(1);

  private Position floor;
  private Position last;
  private long bytes;
  private boolean active = true;
  private boolean complete;
  private boolean maySayNothingNew = true;

  /** Whether the local tail read from here last, and nothing was dropped before it since. */
  private boolean following;

  /** Whether events were passed since the last commit. */
  private boolean passing;

  /** Begins behind the last event of a stream that was just opened or claimed. */
  RecentEvents(ByteBudget budget, Position last) {
    this.budget = budget;
    this.floor = last;
    this.last = last;
  }

  /** Keeps what is committed from now on, or nothing any more. */
  void setActive(boolean wanted) {
    lock.lock();
    try {
      if (active != wanted) {
        active = wanted;
        clear();
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isComplete() {
    lock.lock();
    try {
      return complete;
    } finally {
      lock.unlock();
    }
  }

  /** Somebody else may have written: the next to find nothing new must ask Redis. */
  void doubt() {
    lock.lock();
    try {
      maySayNothingNew = false;
    } finally {
      lock.unlock();
    }
  }

  /** Takes events that were just committed, which follow those committed before. */
  void committed(List<LogEvent> batch) {
    lock.lock();
    try {
      last = batch.getLast().position();
      complete = batch.getLast().last();
      maySayNothingNew = true;
      passing = false;
      if (active) {
        batch.forEach(this::add);
        keepToBounds();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes events that are not committed, if the local tail is sure to read them next: it follows
   * from here, and has not much to read still. What it has not read is nowhere else.
   */
  boolean passed(List<LogEvent> batch) {
    lock.lock();
    try {
      if (!active || !following || bytes > MAX_BYTES || budget.isExceeded()) {
        return false;
      }
      last = batch.getLast().position();
      passing = true;
      batch.forEach(this::add);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The store knows where the stream stands, up to a position. */
  void settled(Position upTo) {
    lock.lock();
    try {
      passing = passing && !last.equals(upTo);
      maySayNothingNew = true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether a cursor stands behind all that is known here. */
  boolean isAtEnd(Position cursor) {
    lock.lock();
    try {
      return active && events.isEmpty() && floor.equals(cursor);
    } finally {
      lock.unlock();
    }
  }

  private void add(LogEvent event) {
    events.addLast(event);
    long size = size(event);
    bytes += size;
    budget.take(size);
  }

  /** A tail too slow to read from here reads Redis until it has caught up. */
  private void keepToBounds() {
    if (budget.isExceeded()) {
      clear();
    }
    while (bytes > MAX_BYTES) {
      following = false;
      dropFirst();
    }
  }

  private void clear() {
    budget.giveBack(bytes);
    bytes = 0;
    floor = last;
    following = false;
    events = new ArrayDeque<>(1);
  }

  private void dropFirst() {
    LogEvent first = events.removeFirst();
    floor = first.position();
    long size = size(first);
    bytes -= size;
    budget.giveBack(size);
  }

  /** What follows the cursor, if that can be said without Redis. */
  Optional<ReadResult> read(Position after, int maxEvents) {
    lock.lock();
    try {
      following = active && dropThrough(after);
      if (!following) {
        return Optional.empty();
      }
      if (!events.isEmpty()) {
        return Optional.of(new ReadResult.Events(first(maxEvents)));
      }
      if (complete) {
        return Optional.of(new ReadResult.EndOfStream());
      }
      boolean say = maySayNothingNew || passing;
      maySayNothingNew = false;
      return say ? Optional.of(new ReadResult.Events(List.of())) : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  /** Drops what a cursor has passed: whether it stands within what is held. */
  private boolean dropThrough(Position after) {
    while (floor.number() < after.number() && !events.isEmpty()) {
      dropFirst();
    }
    return floor.equals(after);
  }

  private List<LogEvent> first(int maxEvents) {
    List<LogEvent> page = new ArrayList<>(Math.min(maxEvents, events.size()));
    Iterator<LogEvent> rest = events.iterator();
    while (rest.hasNext() && page.size() < maxEvents) {
      page.add(rest.next());
    }
    return page;
  }

  private static long size(LogEvent event) {
    return EVENT_OVERHEAD + event.payload().length;
  }
}
