package dev.holdfast.upstream.http;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.timer.TimeLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/**
 * Passes the bytes of a body from the event loop to a reader, with back-pressure.
 *
 * <p>At {@link #HIGH_WATER} unread bytes the queue pauses the sender until the reader has taken all
 * bytes. While the shared budget is exceeded, the queue pauses the sender at {@link #LOW_WATER}.
 * Bytes count against the budget until the reader wants more.
 */
final class BodyQueue {

  /** Twice the size of the largest socket read. */
  static final int HIGH_WATER = 256 * 1024;

  static final int LOW_WATER = 16 * 1024;

  private final ByteBudget budget;

  private final AutoLock lock = new AutoLock();
  private final Condition arrival = lock.newCondition();

  // All guarded by the lock.
  private List<byte[]> chunks = new ArrayList<>();
  private int bytes;
  private int taken;
  private boolean paused;
  private Read.@Nullable NoBytes end;
  private @Nullable Throwable failure;
  private @Nullable WaitingReader waiting;

  BodyQueue(ByteBudget budget) {
    this.budget = budget;
  }

  /**
   * Adds bytes. {@code pause} runs under the lock, like {@code resume} in {@link #take}. Otherwise
   * a pause could follow its own resume and last for ever.
   */
  void add(byte[] chunk, Runnable pause) {
    try (var _ = lock.hold()) {
      if (end == Read.NoBytes.CLOSED) {
        return;
      }
      chunks.add(chunk);
      bytes += chunk.length;
      budget.take(chunk.length);
      if (!paused && bytes >= (budget.isExceeded() ? LOW_WATER : HIGH_WATER)) {
        paused = true;
        pause.run();
      }
    }
    wakeReader();
  }

  void complete() {
    try (var _ = lock.hold()) {
      if (end == null) {
        end = Read.NoBytes.COMPLETE;
      }
    }
    wakeReader();
  }

  /** Marks the body as broken after the bytes that were added. */
  void fail(Throwable cause) {
    try (var _ = lock.hold()) {
      if (failure == null) {
        failure = cause;
      }
    }
    wakeReader();
  }

  void close() {
    try (var _ = lock.hold()) {
      end = Read.NoBytes.CLOSED;
      chunks = new ArrayList<>();
      giveBackTaken();
      budget.giveBack(bytes);
      bytes = 0;
    }
    wakeReader();
  }

  /** Number of bytes that wait for the reader. */
  int size() {
    try (var _ = lock.hold()) {
      return bytes;
    }
  }

  /** Waits for bytes and takes all of them. The end or a failure follows after all bytes. */
  Read take(Deadline deadline, Runnable resume) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      giveBackTaken();
      Read read = poll(resume);
      if (read != null || deadline.hasPassed()) {
        return read == null ? Read.NoBytes.TIMED_OUT : read;
      }
      try (TimeLimit limit = TimeLimit.start(deadline.left(), this::wakeReader)) {
        while (read == null && !limit.isOver()) {
          arrival.await();
          read = poll(resume);
        }
        return read == null ? Read.NoBytes.TIMED_OUT : read;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Takes the bytes that wait, and not the end or a failure. Null if there are none. */
  @Nullable List<byte[]> takeArrived(Runnable resume) {
    try (var _ = lock.hold()) {
      giveBackTaken();
      return !chunks.isEmpty() && poll(resume) instanceof Read.Chunks(var arrived) ? arrived : null;
    }
  }

  /**
   * Runs an action once, on any thread, when {@link #take} would not wait until the deadline. It
   * may run earlier.
   *
   * @return false if {@link #take} would not wait now; the action does not run
   */
  boolean whenReadable(Deadline deadline, Runnable action) {
    try (var _ = lock.hold()) {
      giveBackTaken();
      if (!chunks.isEmpty() || end != null || failure != null || deadline.hasPassed()) {
        return false;
      }
      // On a thread of its own: the reader may have more to do than the thread of all limits may.
      TimeLimit limit =
          TimeLimit.start(deadline.left(), () -> Thread.startVirtualThread(this::wakeReader));
      if (limit.isOver()) {
        return false;
      }
      waiting = new WaitingReader(action, limit);
      return true;
    }
  }

  private void wakeReader() {
    WaitingReader woken;
    try (var _ = lock.hold()) {
      arrival.signal();
      woken = waiting;
      waiting = null;
    }
    if (woken != null) {
      woken.limit().close();
      woken.action().run();
    }
  }

  /** A reader without a thread: what continues it, and the limit of its wait. */
  private record WaitingReader(Runnable action, TimeLimit limit) {}

  private @Nullable Read poll(Runnable resume) {
    if (chunks.isEmpty()) {
      return end == null && failure != null ? new Read.Broken(failure) : end;
    }
    List<byte[]> all = chunks;
    chunks = new ArrayList<>();
    taken = bytes;
    bytes = 0;
    if (paused) {
      paused = false;
      resume.run();
    }
    return new Read.Chunks(all);
  }

  private void giveBackTaken() {
    budget.giveBack(taken);
    taken = 0;
  }

  /** Result of one wait for the bytes of a body. */
  sealed interface Read {

    /** At least one chunk, in order. The arrays belong to the reader. */
    record Chunks(List<byte[]> chunks) implements Read {}

    /** The connection broke in the middle of the body. */
    record Broken(Throwable cause) implements Read {}

    enum NoBytes implements Read {
      COMPLETE,
      TIMED_OUT,
      /** This side has closed the exchange. */
      CLOSED
    }
  }
}
