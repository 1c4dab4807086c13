package dev.holdfast.budget;

import dev.holdfast.lock.AutoLock;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A number of bytes that many users share. Taking bytes never waits. A user either takes more than
 * is left, and {@link #isExceeded} then tells all users to hold back, or is refused. Thread-safe.
 */
public final class ByteBudget {

  /** The part of what is left that one user gets, so that the next one gets something too. */
  private static final int SHARE = 8;

  /** Bytes that each {@link Claim} takes without counting. */
  public static final long UNCOUNTED = 16 << 10;

  private final long capacity;
  private final AtomicLong taken = new AtomicLong();

  /** Creates a budget of {@code capacity} bytes, with nothing taken. */
  public ByteBudget(long capacity) {
    this.capacity = capacity;
  }

  /**
   * Creates a budget of a fraction of this process' heap.
   *
   * @param fraction 16 for a sixteenth of the heap
   * @param most upper bound in bytes, however large the heap is
   */
  public static ByteBudget ofHeap(int fraction, long most) {
    return new ByteBudget(Math.min(Runtime.getRuntime().maxMemory() / fraction, most));
  }

  /** Takes bytes, also if that exceeds the budget. */
  public void take(long bytes) {
    taken.addAndGet(bytes);
  }

  /** Takes bytes unless that exceeds the budget. Returns whether they were taken. */
  public boolean tryTake(long bytes) {
    if (taken.addAndGet(bytes) <= capacity) {
      return true;
    }
    giveBack(bytes);
    return false;
  }

  /**
   * Takes an eighth of what is left, within bounds. When the budget is spent, each caller gets the
   * lower bound.
   *
   * @return how many bytes were taken; the caller gives back the same number
   */
  public long takeShare(long least, long most) {
    long share = Math.clamp((capacity - taken.get()) / SHARE, least, most);
    take(share);
    return share;
  }

  /** Gives bytes back. */
  public void giveBack(long bytes) {
    taken.addAndGet(-bytes);
  }

  /** The bytes that are taken; may be more than there are. */
  public long taken() {
    return taken.get();
  }

  /** The bytes that there are. */
  public long capacity() {
    return capacity;
  }

  /** Returns true if more is taken than there is. */
  public boolean isExceeded() {
    return taken.get() > capacity;
  }

  /** Starts to use the budget for something that grows and shrinks. */
  public Claim newClaim() {
    return new Claim();
  }

  /**
   * Bytes that one user has taken. The first bytes of each do not count, so that a user of few
   * bytes never fails because others have taken all. Thread-safe.
   */
  public final class Claim implements AutoCloseable {

    private final AutoLock lock = new AutoLock();

    // Both guarded by the lock.
    private long bytes;
    private boolean closed;

    private Claim() {}

    /**
     * Takes or gives back bytes, so that this many are taken, less the first {@value #UNCOUNTED}.
     *
     * @return false if the budget has too few bytes, or after {@link #close()}; nothing changes
     *     then
     */
    public boolean set(long held) {
      long wanted = Math.max(0, held - UNCOUNTED);
      try (var _ = lock.hold()) {
        if (closed || (wanted > bytes && !tryTake(wanted - bytes))) {
          return false;
        }
        if (wanted < bytes) {
          giveBack(bytes - wanted);
        }
        bytes = wanted;
        return true;
      }
    }

    /** Gives everything back. Idempotent. */
    @Override
    public void close() {
      try (var _ = lock.hold()) {
        giveBack(bytes);
        bytes = 0;
        closed = true;
      }
    }
  }
}
