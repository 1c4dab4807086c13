package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import java.util.List;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** One call of append that is not finished. The writer's lock guards all state. */
final class PendingAppend {

  private final List<NewEvent> events;
  private final Condition turn;
  private @Nullable Position position;
  private @Nullable LogException failure;

  /** Whether a caller waits. A caller leaves when the outcome is unknown, and may come back. */
  private boolean awaited = true;

  /**
   * @param turn is signalled when the call has an outcome, or when its caller may write
   */
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

  boolean hasOutcome() {
    return position != null || failure != null;
  }

  /** Continues the call for a caller that repeats it. */
  PendingAppend resume() {
    awaited = true;
    failure = null;
    return this;
  }

  void succeed(Position at) {
    position = at;
    turn.signal();
  }

  void fail(LogException why) {
    failure = why;
    turn.signal();
  }

  Condition turn() {
    return turn;
  }

  /** Ends the call of the caller that waits: returns the position or throws the failure. */
  Position leave() {
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
