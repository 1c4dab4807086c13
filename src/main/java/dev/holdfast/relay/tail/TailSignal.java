package dev.holdfast.relay.tail;

import dev.holdfast.log.EventLog.Watcher;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.timer.TimeLimit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Wakes a waiting {@link Tail}. A wake-up between a read and the wait after it is kept.
 * Thread-safe.
 */
final class TailSignal implements Watcher {

  /** Why a wait ended. */
  enum Cause {
    /** There may be events to read. */
    WOKEN,
    /** The time is over. */
    TIMED_OUT,
    /** A newer tail took the stream. */
    EVICTED,
    /** The client is gone. */
    GONE
  }

  /** Delivers events on the thread of the writer, or returns false. */
  private final BiPredicate<Position, List<LogEvent>> atHead;

  /** Has a permit when the tail must look again. */
  private final Semaphore changes = new Semaphore(0);

  /** {@link Cause#EVICTED} or {@link Cause#GONE}, once the tail must end. */
  private final AtomicReference<@Nullable Cause> ending = new AtomicReference<>();

  /** Receives requests that the client awaits. */
  private final Consumer<String> requested;

  TailSignal(BiPredicate<Position, List<LogEvent>> atHead, Consumer<String> requested) {
    this.atHead = atHead;
    this.requested = requested;
  }

  @Override
  public void requested(String requests) {
    requested.accept(requests);
  }

  @Override
  public boolean deliver(Position before, List<LogEvent> events) {
    return atHead.test(before, events);
  }

  /** Waits for the next cause. A cause that ends the tail is returned by every later call. */
  Cause await(Duration most) throws InterruptedException {
    boolean woken = isEnding() || changes.tryAcquire() || isWokenWithin(most);
    changes.drainPermits();
    Cause end = ending.get();
    if (end != null) {
      return end;
    }
    return woken ? Cause.WOKEN : Cause.TIMED_OUT;
  }

  private boolean isWokenWithin(Duration most) throws InterruptedException {
    if (!most.isPositive()) {
      return false;
    }
    try (TimeLimit limit = TimeLimit.start(most, changes::release)) {
      changes.acquire();
      return !limit.isOver();
    }
  }

  /** Whether the tail must end. Does not wait and does not use up a wake-up. */
  boolean isEnding() {
    return ending.get() != null;
  }

  @Override
  public void wake() {
    // A permit that is left was released before the tail reads again, so it is enough.
    if (changes.availablePermits() == 0) {
      changes.release();
    }
  }

  @Override
  public void evicted() {
    ending.compareAndSet(null, Cause.EVICTED);
    wake();
  }

  /** The client is gone. This outweighs an eviction. */
  void gone() {
    ending.set(Cause.GONE);
    wake();
  }
}
