package dev.holdfast.upstream.local;

import dev.holdfast.protocol.RequestId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What this replica knows of sessions: their running calls. A session that has none takes no
 * memory, so nothing is lost when nobody ever ends it.
 */
final class SessionStates {

  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by the lock.
  private final Map<String, Map<RequestId, RunningCall>> calls = new HashMap<>();
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

  /** Forgets a session and returns the calls that it had running. */
  List<RunningCall> end(String session) {
    lock.lock();
    try {
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
      return running;
    } finally {
      lock.unlock();
    }
  }
}
