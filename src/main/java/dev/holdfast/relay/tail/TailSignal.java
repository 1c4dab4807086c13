package dev.holdfast.relay.tail;

import dev.holdfast.log.EventLog.Watcher;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.timer.TimeLimit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets a {@link Tail} wait without a thread. A wake-up between a read and the wait after it is
 * kept. Thread-safe.
 */
final class TailSignal implements Watcher {

  /** Reason for the end of a wait. */
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

  private sealed interface State {}

  /** The tail reads or writes. */
  private enum Running implements State {
    UNCHANGED,
    /** The tail must look again afterwards. */
    CHANGED
  }

  /** The tail waits. */
  private record Waiting(Consumer<Cause> then, Supplier<@Nullable Duration> late, TimeLimit limit)
      implements State {}

  /** Delivers events on the thread of the writer, or returns false. */
  private volatile BiPredicate<Position, List<LogEvent>> atHead = (_, _) -> false;

  private final AtomicReference<State> state = new AtomicReference<>(Running.UNCHANGED);

  /** {@link Cause#EVICTED} or {@link Cause#GONE}, once the tail must end. */
  private final AtomicReference<@Nullable Cause> ending = new AtomicReference<>();

  /** Receives requests that the client awaits. */
  private volatile Consumer<String> requested = _ -> {};

  /** Sets what follows the stream, before it watches. */
  void follow(BiPredicate<Position, List<LogEvent>> deliver, Consumer<String> awaited) {
    atHead = deliver;
    requested = awaited;
  }

  @Override
  public void requested(String requests) {
    requested.accept(requests);
  }

  @Override
  public boolean deliver(Position before, List<LogEvent> events) {
    return atHead.test(before, events);
  }

  /**
   * Waits for the next cause. A cause that ends the tail ends every later wait.
   *
   * @param late runs on the thread of a timer when the time is over; must not block. Returns how
   *     much longer to wait; null to end the wait
   * @param then runs on a virtual thread of its own when the wait ends
   * @return null if the tail waits; a cause if there is one already, and {@code then} does not run
   */
  @Nullable Cause await(Duration most, Supplier<@Nullable Duration> late, Consumer<Cause> then) {
    if (isEnding() || state.compareAndSet(Running.CHANGED, Running.UNCHANGED)) {
      return causeOr(Cause.WOKEN);
    }
    if (!most.isPositive()) {
      return Cause.TIMED_OUT;
    }
    TimeLimit limit = TimeLimit.start(most, this::timeOut);
    if (state.compareAndSet(Running.UNCHANGED, new Waiting(then, late, limit))) {
      return null;
    }
    limit.close();
    state.set(Running.UNCHANGED);
    return causeOr(Cause.WOKEN);
  }

  private Cause causeOr(Cause other) {
    Cause end = ending.get();
    return end == null ? other : end;
  }

  private void timeOut() {
    if (state.get() instanceof Waiting waiting) {
      Duration longer = waiting.late().get();
      if (longer != null) {
        TimeLimit limit = TimeLimit.start(longer, this::timeOut);
        if (!state.compareAndSet(waiting, new Waiting(waiting.then(), waiting.late(), limit))) {
          limit.close();
        }
        return;
      }
    }
    end(Cause.TIMED_OUT);
  }

  /** Ends the wait, or makes the tail look again before it waits. */
  private void end(Cause cause) {
    while (true) {
      switch (state.get()) {
        case Running.CHANGED -> {
          return;
        }
        case Running.UNCHANGED -> {
          if (state.compareAndSet(Running.UNCHANGED, Running.CHANGED)) {
            return;
          }
        }
        case Waiting waiting -> {
          if (state.compareAndSet(waiting, Running.UNCHANGED)) {
            start(waiting, cause);
            return;
          }
        }
      }
    }
  }

  private void start(Waiting waiting, Cause cause) {
    try {
      Thread _ =
          Thread.ofVirtual()
              .inheritInheritableThreadLocals(false)
              .start(() -> {
                waiting.limit().close();
                waiting.then().accept(causeOr(cause));
              });
    } catch (Throwable failure) {
      state.set(waiting); // Too little memory, for example. The next cause tries again.
      throw failure;
    }
  }

  /** Returns true if the tail must end. Does not wait and does not use up a wake-up. */
  boolean isEnding() {
    return ending.get() != null;
  }

  @Override
  public void wake() {
    end(Cause.WOKEN);
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
