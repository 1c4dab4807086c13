package dev.holdfast.log.memory;

import dev.holdfast.log.LogException;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The streams of one session. Lock order: a stream's lock, then this one. */
final class MemorySession implements MemoryStream.Listener {

  private final Retention retention;
  private final MemoryBudget budget;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();

  /** Streams are added under the lock only. */
  private final Map<String, MemoryStream> streams = new ConcurrentHashMap<>(4);

  /** Number of open streams. Guarded by the lock. */
  private int open;

  /** Guarded by the lock. */
  private boolean ended;

  MemorySession(Retention retention, MemoryBudget budget, InstantSource clock) {
    this.retention = retention;
    this.budget = budget;
    this.clock = clock;
  }

  @Nullable MemoryStream find(String name) {
    return streams.get(name);
  }

  Collection<MemoryStream> all() {
    return streams.values();
  }

  /**
   * Opens a new stream.
   *
   * @param sharedStream name of the shared stream that keeps its events; null if it keeps them
   *     itself
   */
  MemoryStream open(StreamRef ref, @Nullable String sharedStream) {
    lock.lock();
    try {
      MemoryStream shared = sharedStream == null ? null : streams.get(sharedStream);
      if (ended || (sharedStream != null && shared == null)) {
        throw new LogException.SessionEnded(ref);
      }
      if (streams.containsKey(ref.name())) {
        throw new LogException.Fenced(ref);
      }
      if (open >= retention.maxStreams()) {
        throw new LogException.TooManyStreams(retention.maxStreams());
      }
      MemoryStream stream = new MemoryStream(ref, this, retention, budget, clock, shared);
      streams.put(ref.name(), stream);
      open++;
      return stream;
    } finally {
      lock.unlock();
    }
  }

  /** Opens a shared stream, unless it is open already. */
  void openShared(StreamRef ref) {
    lock.lock();
    try {
      if (!streams.containsKey(ref.name())) {
        var _ = open(ref, null);
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void completed() {
    lock.lock();
    try {
      open--;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void discarded(MemoryStream stream) {
    streams.remove(stream.ref().name(), stream);
  }

  /** Discards all streams. Later calls of {@link #open} fail. */
  void end() {
    List<MemoryStream> all;
    lock.lock();
    try {
      ended = true;
      all = List.copyOf(streams.values());
      streams.clear();
    } finally {
      lock.unlock();
    }
    all.forEach(MemoryStream::discard);
  }
}
