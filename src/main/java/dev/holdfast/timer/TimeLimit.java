package dev.holdfast.timer;

import dev.holdfast.lock.AutoLock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A limit on the time of a wait. The wait itself is untimed, and the end of the limit wakes it.
 *
 * <p>In JDK 25, each timed wait of a virtual thread arms and cancels a timer on another thread,
 * which costs more than a short wait. Starting and closing a limit wakes no thread. In return, a
 * limit ends up to two ticks late.
 */
public final class TimeLimit implements AutoCloseable {

  private static final Duration LONGEST = Duration.ofDays(365);

  private static final Ticker TICKER = new Ticker();

  /** The tick in which the time is over. */
  private final long tick;

  private final Runnable onEnd;
  private volatile boolean over;

  private TimeLimit(long tick, Runnable onEnd) {
    this.tick = tick;
    this.onEnd = onEnd;
  }

  /**
   * Starts a limit.
   *
   * @param onEnd wakes the wait. Runs once, unless the limit is closed before; must not block
   */
  public static TimeLimit start(Duration time, Runnable onEnd) {
    Duration counted = time.compareTo(LONGEST) < 0 ? time : LONGEST;
    TimeLimit limit = new TimeLimit(Ticker.tickAfter(counted.toNanos()), onEnd);
    TICKER.add(limit);
    return limit;
  }

  /**
   * Waits until a future is done, successfully or not.
   *
   * @return false when the time is over before
   */
  public static boolean await(CompletableFuture<?> future, Duration most)
      throws InterruptedException {
    if (future.isDone() || !most.isPositive()) {
      return future.isDone();
    }
    Thread waiting = Thread.currentThread();
    var _ = future.whenComplete((_, _) -> LockSupport.unpark(waiting));
    try (TimeLimit limit = start(most, () -> LockSupport.unpark(waiting))) {
      while (!future.isDone() && !limit.isOver()) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        LockSupport.park(future);
      }
    }
    return future.isDone();
  }

  /** Whether the time is over. */
  public boolean isOver() {
    return over;
  }

  private void end() {
    over = true;
    onEnd.run();
  }

  /** Ends the use of the limit. */
  @Override
  public void close() {
    TICKER.remove(this);
  }

  /**
   * A wheel of buckets, one per tick, with the limits that end in that tick of any round. Its
   * thread ticks while limits are added: waking it for each limit would cost what this class saves.
   * When none was added for a second, it sleeps until the next limit, or ends if there is none.
   */
  private static final class Ticker {

    private static final long TICK = Duration.ofMillis(5).toNanos();
    private static final int BUCKETS = 128;
    private static final int QUIET_TICKS = 200;

    private final List<Set<TimeLimit>> buckets =
        Stream.<Set<TimeLimit>>generate(ConcurrentHashMap::newKeySet).limit(BUCKETS).toList();

    private final AutoLock starting = new AutoLock();

    /** Written under the lock. */
    private volatile @Nullable Thread thread;

    // Written by the thread of the ticker: the last tick whose limits end or have ended, and the
    // tick at which a sleeping ticker wakes.
    private volatile long reached = Long.MIN_VALUE;
    private volatile long asleepUntil = Long.MIN_VALUE;

    /** Whether a limit was added since the thread of the ticker looked. */
    private volatile boolean added;

    /** The first tick that begins after a time from now. */
    static long tickAfter(long nanos) {
      return Math.floorDiv(System.nanoTime() + nanos, TICK) + 1;
    }

    private Set<TimeLimit> bucket(long tick) {
      return buckets.get(Math.floorMod(tick, BUCKETS));
    }

    /**
     * Adds a limit first and looks second, which the thread of the ticker does in the opposite
     * order. So either that thread finds the limit, or this one finds that it came late.
     */
    void add(TimeLimit limit) {
      bucket(limit.tick).add(limit);
      if (!added) {
        added = true;
      }
      Thread ticker = thread;
      if (ticker == null) {
        start();
      } else if (limit.tick <= reached) {
        end(limit);
      } else if (limit.tick < asleepUntil) {
        LockSupport.unpark(ticker);
      }
    }

    void remove(TimeLimit limit) {
      bucket(limit.tick).remove(limit);
    }

    private void end(TimeLimit limit) {
      if (bucket(limit.tick).remove(limit)) {
        limit.end();
      }
    }

    private void start() {
      try (var _ = starting.hold()) {
        if (thread == null) {
          thread = Thread.ofPlatform().daemon().name("time limits").start(this::runUntilStopped);
        }
      }
    }

    /** Returns whether the thread ends. A thread that lives on would keep its class loader. */
    private boolean stop() {
      thread = null;
      try (var _ = starting.hold()) {
        boolean continues = added && thread == null;
        if (continues) {
          thread = Thread.currentThread();
        }
        return !continues;
      }
    }

    private void runUntilStopped() {
      try {
        run();
      } catch (Throwable unexpected) {
        // Too little memory, for example. The next limit starts another thread, for all limits.
        thread = null;
        throw unexpected;
      }
    }

    private void run() {
      int quiet = 0;
      long last = tickAfter(0) - BUCKETS;
      while (true) {
        long now = tickAfter(0) - 1;
        reached = now;
        for (long tick = Math.max(last, now - BUCKETS) + 1; tick <= now; tick++) {
          bucket(tick).stream().filter(limit -> limit.tick <= now).forEach(this::end);
        }
        last = now;
        quiet = added ? 0 : quiet + 1;
        added = false;
        if (quiet < QUIET_TICKS) {
          LockSupport.parkNanos(this, (now + 1) * TICK - System.nanoTime());
        } else if (!sleep() && stop()) {
          return;
        }
      }
    }

    /** Sleeps until the next limit ends or is added. Returns false when there is no limit. */
    private boolean sleep() {
      long next =
          buckets.stream()
              .flatMap(Set::stream)
              .mapToLong(limit -> limit.tick)
              .min()
              .orElse(Long.MAX_VALUE);
      if (next == Long.MAX_VALUE) {
        return false;
      }
      asleepUntil = next;
      if (!added) {
        LockSupport.parkNanos(this, next * TICK - System.nanoTime());
      }
      asleepUntil = Long.MIN_VALUE;
      return true;
    }
  }
}
