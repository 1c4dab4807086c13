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
 * which costs more than a short wait. Starting and closing a limit rarely wakes a thread. In
 * return, a limit ends up to 10 ms late, and one of 640 ms or more up to 170 ms.
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
   * thread sleeps until the next tick that has limits. Limits of more than a round share few
   * buckets, so that they rarely wake it.
   */
  private static final class Ticker {

    private static final long TICK = Duration.ofMillis(5).toNanos();
    private static final int BUCKETS = 128;

    /** Limits of more than a round end in every such tick. */
    private static final int LONG_TICKS = 32;

    /** The thread ends when there was no limit for so long. */
    private static final long MOST_SLEEP = Duration.ofSeconds(1).toNanos();

    private final List<Set<TimeLimit>> buckets =
        Stream.<Set<TimeLimit>>generate(ConcurrentHashMap::newKeySet).limit(BUCKETS).toList();

    private final AutoLock starting = new AutoLock();

    /** Written under the lock. */
    private volatile @Nullable Thread thread;

    // Written by the thread of the ticker: the last tick whose limits end or have ended, and the
    // tick at which it looks next. An earlier limit must wake it.
    private volatile long reached = Long.MIN_VALUE;
    private volatile long asleepUntil = Long.MIN_VALUE;

    /** The first tick that begins after a time from now. */
    static long tickAfter(long nanos) {
      long tick = Math.floorDiv(System.nanoTime() + nanos, TICK) + 1;
      return nanos < BUCKETS * TICK ? tick : Math.ceilDiv(tick, LONG_TICKS) * LONG_TICKS;
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
        boolean continues =
            thread == null && buckets.stream().anyMatch(limits -> !limits.isEmpty());
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
      long last = tickAfter(0) - BUCKETS;
      while (true) {
        long now = tickAfter(0) - 1;
        reached = now;
        for (long tick = Math.max(last, now - BUCKETS) + 1; tick <= now; tick++) {
          bucket(tick).stream().filter(limit -> limit.tick <= now).forEach(this::end);
        }
        last = now;
        if (!sleep(now) && stop()) {
          return;
        }
      }
    }

    /** Sleeps until the next tick with limits. Returns false if there was none for too long. */
    private boolean sleep(long now) {
      asleepUntil = Long.MAX_VALUE; // A limit that is added from here on wakes this thread.
      long next = now + 1;
      while (next <= now + BUCKETS && bucket(next).isEmpty()) {
        next++;
      }
      boolean isEmpty = next > now + BUCKETS;
      if (!isEmpty) {
        asleepUntil = next;
      }
      long begun = System.nanoTime();
      LockSupport.parkNanos(this, isEmpty ? MOST_SLEEP : next * TICK - begun);
      asleepUntil = Long.MIN_VALUE;
      return !isEmpty || System.nanoTime() - begun < MOST_SLEEP;
    }
  }
}
