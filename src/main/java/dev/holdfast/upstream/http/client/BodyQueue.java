package dev.holdfast.upstream.http.client;

import dev.holdfast.budget.ByteBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Hands the bytes of a body from the event loop to a thread that blocks for them. It holds what the
 * reader has not taken yet; at {@link #HIGH_WATER} bytes, or at {@link #LOW_WATER} while there is
 * too much of the whole server, the sender is to be held back until the reader has taken all of
 * them. What the reader has taken counts until it comes back for more.
 */
final class BodyQueue {

  /** Two of the largest reads of a socket. */
  static final int HIGH_WATER = 256 * 1024;

  static final int LOW_WATER = 16 * 1024;

  private final ByteBudget inflow;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrival = lock.newCondition();

  // All guarded by the lock.
  private List<byte[]> chunks = new ArrayList<>();
  private int bytes;
  private int taken;
  private boolean heldBack;
  private boolean ended;
  private boolean closed;
  private @Nullable Throwable failure;

  /** Begins empty; counts what it holds. */
  BodyQueue(ByteBudget inflow) {
    this.inflow = inflow;
  }

  /**
   * Adds bytes.
   *
   * @param hold is run when the sender is to be held back. Like its counterpart in {@link #take} it
   *     runs under the lock: else a hold could overtake its own release and last for ever.
   */
  void add(byte[] chunk, Runnable hold) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      chunks.add(chunk);
      bytes += chunk.length;
      inflow.take(chunk.length);
      if (!heldBack && bytes >= (inflow.isExceeded() ? LOW_WATER : HIGH_WATER)) {
        heldBack = true;
        hold.run();
      }
      arrival.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Says that the body is complete. */
  void end() {
    lock.lock();
    try {
      ended = true;
      arrival.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Says that no more than what was added will come. */
  void fail(Throwable cause) {
    lock.lock();
    try {
      if (failure == null) {
        failure = cause;
      }
      arrival.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Drops what is held and lets the reader go. */
  void close() {
    lock.lock();
    try {
      closed = true;
      chunks = new ArrayList<>();
      settle();
      inflow.giveBack(bytes);
      bytes = 0;
      arrival.signal();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until there is something to tell and takes all that has come. The end, and a failure, are
   * told after all bytes.
   *
   * @param deadline until when to wait
   * @param release is run when the sender was held back and may go on
   */
  BodyRead take(Deadline deadline, Runnable release) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      settle();
      while (true) {
        BodyRead arrived = poll(release);
        if (arrived != null) {
          return arrived;
        }
        long left = deadline.remaining();
        if (left <= 0) {
          return BodyRead.Nothing.SILENT;
        }
        var _ = arrival.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  private @Nullable BodyRead poll(Runnable release) {
    if (closed) {
      return BodyRead.Nothing.CLOSED;
    }
    if (!chunks.isEmpty()) {
      List<byte[]> all = chunks;
      chunks = new ArrayList<>();
      taken = bytes;
      bytes = 0;
      if (heldBack) {
        heldBack = false;
        release.run();
      }
      return new BodyRead.Chunks(all);
    }
    if (ended) {
      return BodyRead.Nothing.ENDED;
    }
    return failure == null ? null : new BodyRead.Broken(failure);
  }

  /** The reader is done with what it had. */
  private void settle() {
    inflow.giveBack(taken);
    taken = 0;
  }
}
