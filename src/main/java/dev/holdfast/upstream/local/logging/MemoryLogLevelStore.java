package dev.holdfast.upstream.local.logging;

import dev.holdfast.upstream.local.LogLevel;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.locks.ReentrantLock;

/** Keeps log levels in this process. */
public final class MemoryLogLevelStore implements LogLevelStore {

  /** Maximum number of levels. Another one replaces the least recently used. */
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
