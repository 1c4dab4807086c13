package dev.holdfast.log.memory;

import dev.holdfast.log.EventLog;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Byte budget shared by the events of all streams. It knows which event is the oldest.
 *
 * <p>Lock order: a stream's lock, then this one.
 */
final class MemoryBudget {

  private final long maxBytes;
  private final ReentrantLock lock = new ReentrantLock();

  /** The events of all streams in append order. The lock guards this set and the sum. */
  private final Set<StoredEvent> events = new LinkedHashSet<>();

  private long bytes;

  MemoryBudget(long maxBytes) {
    if (maxBytes < 1) {
      throw new IllegalArgumentException("the byte budget must be positive");
    }
    this.maxBytes = maxBytes;
  }

  EventLog.Size size() {
    lock.lock();
    try {
      return new EventLog.Size(OptionalLong.of(events.size()), OptionalLong.of(bytes));
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

  /** Releases the bytes of an event, once. */
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
   * Releases the oldest event when the budget is exceeded. The newest event always stays: a message
   * that alone exceeds the budget must still be delivered.
   *
   * @return the released event, which the caller has to purge
   */
  Optional<StoredEvent> releaseOverflow() {
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
