package dev.holdfast.upstream.local.server;

import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.UpstreamException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The running calls of this replica by session and request id. A session without calls takes no
 * memory, so it need not be ended. Thread-safe.
 */
final class RunningCalls {

  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by the lock.
  private final Map<String, Map<RequestId, RunningCall>> bySession = new HashMap<>();
  private boolean closed;

  /**
   * Adds a call.
   *
   * @return false if the request id is in use
   * @throws UpstreamException.Unreachable after {@link #close()}
   */
  boolean add(LocalSessionId session, RequestId id, RunningCall call) {
    lock.lock();
    try {
      requireOpen();
      return bySession.computeIfAbsent(session.name(), _ -> new HashMap<>()).putIfAbsent(id, call)
          == null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes a call unless another one has taken its id.
   *
   * @param out writer of the call
   */
  void remove(LocalSessionId session, RequestId id, MessageQueue.Writer out) {
    lock.lock();
    try {
      Map<RequestId, RunningCall> calls = bySession.getOrDefault(session.name(), Map.of());
      RunningCall call = calls.get(id);
      if (call != null && call.out() == out) {
        calls.remove(id);
        if (calls.isEmpty()) {
          bySession.remove(session.name());
        }
      }
    } finally {
      lock.unlock();
    }
  }

  Optional<RunningCall> find(LocalSessionId session, RequestId id) {
    lock.lock();
    try {
      return Optional.ofNullable(bySession.getOrDefault(session.name(), Map.of()).get(id));
    } finally {
      lock.unlock();
    }
  }

  /** Removes and returns the calls of a session. */
  List<RunningCall> removeAll(LocalSessionId session) {
    lock.lock();
    try {
      Map<RequestId, RunningCall> calls = bySession.remove(session.name());
      return calls == null ? List.of() : List.copyOf(calls.values());
    } finally {
      lock.unlock();
    }
  }

  /**
   * @throws UpstreamException.Unreachable after {@link #close()}
   */
  void requireOpen() {
    lock.lock();
    try {
      if (closed) {
        throw new UpstreamException.Unreachable(null);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Refuses further calls. Removes and returns those that run. */
  List<RunningCall> close() {
    lock.lock();
    try {
      closed = true;
      List<RunningCall> calls =
          bySession.values().stream().flatMap(some -> some.values().stream()).toList();
      bySession.clear();
      return calls;
    } finally {
      lock.unlock();
    }
  }
}
