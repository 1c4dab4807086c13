package dev.holdfast.timer;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A limit on the time of a wait. The wait itself is untimed, and the end of the limit wakes it.
 *
 * <p>In JDK 25, each timed wait of a virtual thread arms and cancels a timer on another thread,
 * which costs more than a short wait. Starting and closing a limit rarely wakes a thread.
 */
public final class TimeLimit implements AutoCloseable {

  private static final Duration LONGEST = Duration.ofDays(365);

  private static final ScheduledThreadPoolExecutor TIMER = timer();

  private final Future<?> end;
  private volatile boolean over;

  private TimeLimit(Duration time, Runnable onEnd) {
    end =
        TIMER.schedule(
            () -> {
              over = true;
              onEnd.run();
            },
            time.toNanos(),
            TimeUnit.NANOSECONDS);
  }

  /**
   * Starts a limit.
   *
   * @param onEnd wakes the wait. Runs once, unless the limit is closed before; must not block
   */
  public static TimeLimit start(Duration time, Runnable onEnd) {
    return new TimeLimit(time.compareTo(LONGEST) < 0 ? time : LONGEST, onEnd);
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

  /** Returns true if the time is over. */
  public boolean isOver() {
    return over;
  }

  /** Ends the use of the limit. */
  @Override
  public void close() {
    end.cancel(false);
  }

  private static ScheduledThreadPoolExecutor timer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("time limits").factory());
    timer.setRemoveOnCancelPolicy(true);
    // A thread that lives on would keep its class loader.
    timer.setKeepAliveTime(1, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
    return timer;
  }
}
