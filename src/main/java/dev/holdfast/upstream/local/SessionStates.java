package dev.holdfast.upstream.local;

import dev.holdfast.protocol.RequestId;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What this replica knows of sessions: their running calls and log levels. A session that has
 * neither takes no memory, so nothing is lost when nobody ever ends it.
 */
final class SessionStates {

  /**
   * For how many sessions a level is kept. A session may end on another replica without this one
   * hearing of it, so the level that was used longest ago must be forgotten at some time.
   */
  static final int MAX_LEVELS = 10_000;

  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by the lock.
  private final Map<String, Map<RequestId, RunningCall>> calls = new HashMap<>();
  private final SequencedMap<String, LogLevel> levels = new LinkedHashMap<>(16, 0.75f, true);
  private boolean closed;

  /** What became of an attempt to register a call. */
  enum Registration {
    DONE,
    ID_IN_USE,
    CLOSED
  }

  Registration register(RunningCall call) {
    lock.lock();
    try {
      if (closed) {
        return Registration.CLOSED;
      }
      Map<RequestId, RunningCall> ofSession =
          calls.computeIfAbsent(call.session(), _ -> new HashMap<>());
      return ofSession.putIfAbsent(call.id(), call) == null
          ? Registration.DONE
          : Registration.ID_IN_USE;
    } finally {
      lock.unlock();
    }
  }

  /** Forgets a call; does nothing if it is not the one that is registered. */
  void remove(RunningCall call) {
    lock.lock();
    try {
      Map<RequestId, RunningCall> ofSession = calls.get(call.session());
      if (ofSession != null && ofSession.remove(call.id(), call) && ofSession.isEmpty()) {
        calls.remove(call.session());
      }
    } finally {
      lock.unlock();
    }
  }

  @Nullable RunningCall find(String session, RequestId id) {
    lock.lock();
    try {
      return calls.getOrDefault(session, Map.of()).get(id);
    } finally {
      lock.unlock();
    }
  }

  LogLevel logLevel(String session) {
    lock.lock();
    try {
      return levels.getOrDefault(session, LogLevel.DEFAULT);
    } finally {
      lock.unlock();
    }
  }

  void setLogLevel(String session, LogLevel level) {
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

  /** Forgets a session and returns the calls that it had running. */
  List<RunningCall> end(String session) {
    lock.lock();
    try {
      levels.remove(session);
      Map<RequestId, RunningCall> ended = calls.remove(session);
      return ended == null ? List.of() : List.copyOf(ended.values());
    } finally {
      lock.unlock();
    }
  }

  boolean closed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Forgets all, takes no more calls, and returns those that were running. */
  List<RunningCall> close() {
    lock.lock();
    try {
      closed = true;
      List<RunningCall> running =
          calls.values().stream().flatMap(ofSession -> ofSession.values().stream()).toList();
      calls.clear();
      levels.clear();
      return running;
    } finally {
      lock.unlock();
    }
  }
}
