package dev.holdfast.agent;

import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.server.LogLevelStore;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps the log levels of the sessions that are pinned to this replica in memory, so that each
 * event can ask for them and sees a change at once. Thread-safe.
 */
final class ChosenLevels implements LogLevelStore {

  private final LogLevelStore store;
  private final Map<String, Optional<LogLevel>> known = new ConcurrentHashMap<>();

  ChosenLevels(LogLevelStore store) {
    this.store = store;
  }

  @Override
  public void put(String session, LogLevel level) {
    store.put(session, level);
    known.put(session, Optional.of(level));
  }

  @Override
  public Optional<LogLevel> find(String session) {
    Optional<LogLevel> level = known.get(session);
    if (level == null) {
      level = store.find(session);
      Optional<LogLevel> newer = known.putIfAbsent(session, level);
      level = newer == null ? level : newer;
    }
    return level;
  }

  @Override
  public void remove(String session) {
    known.remove(session);
    store.remove(session);
  }
}
