package dev.holdfast.log.redis;

import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import java.util.List;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** One call of append on its way. All that changes is guarded by the writer's lock. */
final class PendingAppend {

  private final List<NewEvent> events;
  private final Condition turn;
  private @Nullable Position position;
  private @Nullable LogException failure;

  /** Whether a caller waits for it; the first has left when the outcome is unknown. */
  private boolean awaited = true;

  PendingAppend(List<NewEvent> events, Condition turn) {
    this.events = events;
    this.turn = turn;
  }

  List<NewEvent> events() {
    return events;
  }

  boolean isLast() {
    return events.getLast().last();
  }

  long bytes() {
    long sum = 0;
    for (NewEvent event : events) {
      sum += event.payload().length;
    }
    return sum;
  }

  boolean isAwaited() {
    return awaited;
  }

  boolean isSettled() {
    return position != null || failure != null;
  }

  /** A caller comes back for it. */
  void reclaim() {
    awaited = true;
    failure = null;
  }

  void succeed(Position at) {
    position = at;
    turn.signal();
  }

  void fail(LogException why) {
    failure = why;
    turn.signal();
  }

  /** Wakes the caller, be it to lead. */
  void nudge() {
    turn.signal();
  }

  /** Signalled when it is settled, or when its caller may lead. */
  Condition turn() {
    return turn;
  }

  /** What the caller gets, who leaves with it. */
  Position outcome() {
    awaited = false;
    if (failure != null) {
      throw failure;
    }
    if (position == null) {
      throw new IllegalStateException("left before the outcome");
    }
    return position;
  }
}
