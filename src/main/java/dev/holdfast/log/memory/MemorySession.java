package dev.holdfast.log.memory;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.SessionEndedException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.TooManyStreamsException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The streams of one session. Its lock may be taken under a stream's lock, never around one. */
final class MemorySession {

  private final ReentrantLock lock = new ReentrantLock();

  /** Added to under the lock. */
  private final Map<String, MemoryStream> streams = new ConcurrentHashMap<>(4);

  /** Guarded by the lock. */
  private int open;

  /** Guarded by the lock. */
  private boolean ended;

  @Nullable MemoryStream find(String name) {
    return streams.get(name);
  }

  Collection<MemoryStream> all() {
    return streams.values();
  }

  void open(StreamRef ref, MemoryStream stream, int limit) {
    lock.lock();
    try {
      if (ended) {
        throw new SessionEndedException(ref);
      }
      if (streams.containsKey(ref.name())) {
        throw new FencedException(ref);
      }
      if (open >= limit) {
        throw new TooManyStreamsException(limit);
      }
      streams.put(ref.name(), stream);
      open++;
    } finally {
      lock.unlock();
    }
  }

  /** Opens a stream that others write into, unless it is open already. */
  void openShared(StreamRef ref, MemoryStream stream, int limit) {
    lock.lock();
    try {
      if (!streams.containsKey(ref.name())) {
        open(ref, stream, limit);
      }
    } finally {
      lock.unlock();
    }
  }

  void completed() {
    lock.lock();
    try {
      open--;
    } finally {
      lock.unlock();
    }
  }

  void forget(String name, MemoryStream stream) {
    streams.remove(name, stream);
  }

  /**
   * Takes no more streams.
   *
   * @return those that it had
   */
  List<MemoryStream> end() {
    lock.lock();
    try {
      ended = true;
      List<MemoryStream> all = List.copyOf(streams.values());
      streams.clear();
      return all;
    } finally {
      lock.unlock();
    }
  }
}
