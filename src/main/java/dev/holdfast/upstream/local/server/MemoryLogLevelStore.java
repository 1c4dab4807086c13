package dev.holdfast.upstream.local.server;

import dev.holdfast.upstream.local.LogLevel;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Keeps log levels in this process. */
public final class MemoryLogLevelStore implements LogLevelStore {

  /** Maximum number of levels. Another one replaces the least recently used. */
  static final int MAX_LEVELS = 10_000;

  private final Map<String, LogLevel> levels =
      Collections.synchronizedMap(
          new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, LogLevel> eldest) {
              return size() > MAX_LEVELS;
            }
          });

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
