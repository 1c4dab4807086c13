package dev.holdfast.upstream.local;

import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.locks.ReentrantLock;

/** Levels of sessions that are all in this process. */
public final class MemoryLogLevels implements LogLevels {

  /** More push out those that were used longest ago. */
  static final int MAX_LEVELS = 10_000;

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private final SequencedMap<String, LogLevel> levels = new LinkedHashMap<>(16, 0.75f, true);

  @Override
  public void put(String session, LogLevel level) {
    lock.lock();
    try {
      levels.put(session, level);
      if (levels.size() > MAX_LEVELS) {
        levels.pollFirstEntry();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Optional<LogLevel> find(String session) {
    lock.lock();
    try {
      return Optional.ofNullable(levels.get(session));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void remove(String session) {
    lock.lock();
    try {
      levels.remove(session);
    } finally {
      lock.unlock();
    }
  }
}
