package dev.holdfast.upstream.local.server;

import dev.holdfast.lock.AutoLock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls that compute. A computing virtual thread keeps its carrier, and there is only one
 * carrier per processor. Computing calls therefore share a few platform threads.
 *
 * <p>Sessions take turns, and a session cannot occupy all threads. Waiting calls are bounded in
 * number and bytes, in all and per session. Thread-safe.
 */
final class ComputeQueue {

  static final int MAX_CALLS = 1000;
  static final int MAX_CALLS_PER_SESSION = 50;
  static final long MAX_BYTES = 16 << 20;
  static final long MAX_BYTES_PER_SESSION = MAX_BYTES / 2;

  /**
   * A call that waits or runs.
   *
   * @param bytes size of its request
   * @param turn the lowest one is next; each session has one call per turn
   */
  private record Call(String session, FutureTask<?> task, int bytes, long turn) {}

  private final int threads;

  private final AutoLock lock = new AutoLock();

  // All guarded by the lock.
  private final List<Call> waiting = new ArrayList<>();
  private final List<String> runningSessions = new ArrayList<>();
  private long turn;

  /**
   * Creates a queue.
   *
   * @param threads number for all sessions, at least two; zero for one fewer than there are
   *     processors
   */
  ComputeQueue(int threads) {
    this.threads =
        threads == 0 ? Math.max(2, Runtime.getRuntime().availableProcessors() - 1) : threads;
  }

  /** Threads that one session may occupy. */
  int threadsPerSession() {
    return threads - 1;
  }

  /** Runs a call when its turn comes. False if too many calls wait. */
  boolean start(String session, FutureTask<?> task, int bytes) {
    try (var _ = lock.hold()) {
      waiting.removeIf(call -> call.task().isDone()); // They were cancelled.
      List<Call> own = waiting.stream().filter(call -> call.session().equals(session)).toList();
      if (!hasRoom(waiting, MAX_CALLS, MAX_BYTES - bytes)
          || !hasRoom(own, MAX_CALLS_PER_SESSION, MAX_BYTES_PER_SESSION - bytes)) {
        return false;
      }
      long next = own.isEmpty() ? turn : own.getLast().turn() + 1;
      waiting.add(new Call(session, task, bytes, next));
      Call first = runningSessions.size() < threads ? poll() : null;
      if (first != null) {
        Thread.ofPlatform().daemon().name("holdfast-tool-cpu").start(() -> run(first));
      }
      return true;
    }
  }

  private static boolean hasRoom(List<Call> calls, int maxCalls, long maxBytes) {
    return calls.size() < maxCalls && calls.stream().mapToLong(Call::bytes).sum() <= maxBytes;
  }

  private void run(Call first) {
    for (Call call = first; call != null; call = next(call)) {
      call.task().run();
      boolean _ = Thread.interrupted(); // A late cancellation must not hit the next call.
    }
  }

  private @Nullable Call next(Call ended) {
    try (var _ = lock.hold()) {
      runningSessions.remove(ended.session());
      return poll();
    }
  }

  private @Nullable Call poll() {
    Call next =
        waiting.stream()
            .filter(call ->
                Collections.frequency(runningSessions, call.session()) < threadsPerSession())
            .min(Comparator.comparingLong(Call::turn))
            .orElse(null);
    if (next != null) {
      waiting.remove(next);
      runningSessions.add(next.session());
      turn = next.turn();
    }
    return next;
  }
}
