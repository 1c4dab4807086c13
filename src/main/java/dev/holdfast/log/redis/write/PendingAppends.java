package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Append calls of one writer that wait, have an unknown outcome, or succeeded after their callers
 * had left. The writer's lock guards all state.
 */
final class PendingAppends {

  private static final int MAX_BATCH_EVENTS = 512;
  private static final long MAX_BATCH_BYTES = 1024 * 1024;

  /** Maximum number of calls whose callers have left. Callers normally come back at once. */
  private static final int MAX_UNCLAIMED = 64;

  private final Deque<Call> waiting = new ArrayDeque<>(1);
  private final Deque<Call> unclaimed = new ArrayDeque<>(1);
  private List<Call> unknown = List.of();

  /** The batch whose outcome is unknown; empty for none. */
  List<Call> unknown() {
    return unknown;
  }

  void setUnknown(List<Call> batch) {
    unknown = batch;
  }

  void add(Call append) {
    waiting.addLast(append);
  }

  /** Removes and returns a call that succeeded after its caller had left; null if there is none. */
  @Nullable Call takeUnclaimed(List<NewEvent> events) {
    Call earlier = find(unclaimed, events);
    if (earlier != null) {
      unclaimed.remove(earlier);
    }
    return earlier;
  }

  /** Whether a call succeeded after its caller had left. */
  boolean isUnclaimed(List<NewEvent> events) {
    return find(unclaimed, events) != null;
  }

  /** Finds a call that has an unknown outcome and no caller; null if there is none. */
  @Nullable Call findUnknown(List<NewEvent> events) {
    return find(unknown, events);
  }

  /** Events are equal only if they share their payload array, so only a repeated call matches. */
  private static @Nullable Call find(Iterable<Call> among, List<NewEvent> events) {
    for (Call candidate : among) {
      if (!candidate.isAwaited() && candidate.events().equals(events)) {
        return candidate;
      }
    }
    return null;
  }

  /** The batch with an unknown outcome, or else as many waiting calls as fit into a batch. */
  List<Call> nextBatch() {
    if (!unknown.isEmpty()) {
      return unknown;
    }
    List<Call> batch = new ArrayList<>();
    int events = 0;
    long bytes = 0;
    Call next = waiting.peekFirst();
    while (next != null) {
      events += next.events().size();
      bytes += next.bytes();
      if (!batch.isEmpty() && (events > MAX_BATCH_EVENTS || bytes > MAX_BATCH_BYTES)) {
        break;
      }
      batch.add(waiting.removeFirst());
      // Calls after the last event of the stream are refused.
      next = next.isLast() ? null : waiting.peekFirst();
    }
    return batch;
  }

  static List<NewEvent> eventsOf(List<Call> batch) {
    List<NewEvent> events = new ArrayList<>();
    batch.forEach(call -> events.addAll(call.events()));
    return events;
  }

  /**
   * Completes all calls of a batch.
   *
   * @param last the position of the batch's last event; the other events have the numbers before
   */
  void succeed(List<Call> batch, Position last) {
    unknown = List.of();
    long number = last.number() - eventsOf(batch).size();
    for (Call call : batch) {
      number += call.events().size();
      call.succeed(new Position(last.millis(), number));
      if (!call.isAwaited()) {
        unclaimed.addLast(call);
      }
    }
    while (unclaimed.size() > MAX_UNCLAIMED) {
      unclaimed.removeFirst();
    }
  }

  void failWaiting(Supplier<LogException> why) {
    waiting.forEach(call -> call.fail(why.get()));
    waiting.clear();
  }

  /** Signals one caller, if there is something to write. */
  void signalNext() {
    Call next = waiting.peekFirst();
    if (next != null) {
      next.turn().signal();
      return;
    }
    unknown.stream()
        .filter(call -> call.isAwaited() && !call.hasOutcome())
        .findFirst()
        .ifPresent(call -> call.turn().signal());
  }

  /** One call of append that is not finished. The writer's lock guards all state. */
  static final class Call {

    private final List<NewEvent> events;
    private final Condition turn;
    private @Nullable Position position;
    private @Nullable LogException failure;

    /** Whether a caller waits. A caller leaves when the outcome is unknown, and may come back. */
    private boolean awaited = true;

    /**
     * @param turn is signalled when the call has an outcome, or when its caller may write
     */
    Call(List<NewEvent> events, Condition turn) {
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
    Call resume() {
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
}
