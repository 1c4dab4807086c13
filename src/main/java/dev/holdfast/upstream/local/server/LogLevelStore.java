package dev.holdfast.upstream.local.server;

import dev.holdfast.lock.LruMap;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.LogLevel;
import java.util.Map;
import java.util.Optional;

/**
 * The log levels that clients set for their sessions. A level may be set on one replica and apply
 * to a call on another. Sessions have the names that a local server gave them. Thread-safe.
 */
public interface LogLevelStore {

  /**
   * Sets the level of a session.
   *
   * @throws UpstreamException if the level may not be stored
   */
  void put(String session, LogLevel level);

  /**
   * Returns the level of a session; empty if its client set none, or if the level has expired.
   *
   * @throws UpstreamException if the store does not answer
   */
  Optional<LogLevel> find(String session);

  /** Removes the level of a session that has ended. Levels that are never removed expire. */
  void remove(String session);

  /** Keeps log levels in this process. */
  final class InMemory implements LogLevelStore {

    /** Maximum number of levels. Another one replaces the least recently used. */
    static final int MAX_LEVELS = 10_000;

    private final Map<String, LogLevel> levels = LruMap.create(MAX_LEVELS);

    @Override
    public void put(String session, LogLevel level) {
      levels.put(session, level);
    }

    @Override
    public Optional<LogLevel> find(String session) {
      return Optional.ofNullable(levels.get(session));
    }

    @Override
    public void remove(String session) {
      levels.remove(session);
    }
  }
}
