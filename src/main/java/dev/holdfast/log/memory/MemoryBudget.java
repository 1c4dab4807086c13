package dev.holdfast.log.memory;

import dev.holdfast.log.LogSize;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How many bytes all events of all streams may take together, and which of them is the oldest.
 *
 * <p>Its lock is the innermost: it is taken while a stream's lock is held, never the other way.
 */
final class MemoryBudget {

  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();

  /** In the order of their appends, over all streams. Guarded by the lock, as is the sum. */
  private final Set<StoredEvent> events = new LinkedHashSet<>();

  private long bytes;

  MemoryBudget(long maxBytes) {
    if (maxBytes < 1) {
      throw new IllegalArgumentException("the budget is at least one byte");
    }
    this.maxBytes = maxBytes;
  }

  /** What there is. */
  LogSize depth() {
    lock.lock();
    try {
      return new LogSize(OptionalLong.of(events.size()), OptionalLong.of(bytes));
    } finally {
      lock.unlock();
    }
  }

  void add(List<StoredEvent> added) {
    lock.lock();
    try {
      for (StoredEvent stored : added) {
        events.add(stored);
        bytes += stored.bytes();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Gives back what an event took, unless that was given back before. */
  void release(StoredEvent stored) {
    lock.lock();
    try {
      if (events.remove(stored)) {
        bytes -= stored.bytes();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives back the oldest event when there are too many bytes. The newest always stays: a message
   * that alone exceeds the budget could otherwise never be delivered.
   *
   * @return the event, which its stream has yet to forget
   */
  Optional<StoredEvent> overflow() {
    lock.lock();
    try {
      if (bytes <= maxBytes || events.size() < 2) {
        return Optional.empty();
      }
      StoredEvent oldest = events.iterator().next();
      events.remove(oldest);
      bytes -= oldest.bytes();
      return Optional.of(oldest);
    } finally {
      lock.unlock();
    }
  }
}
