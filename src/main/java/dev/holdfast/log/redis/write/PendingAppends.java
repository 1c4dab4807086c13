package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
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

  private final Deque<PendingAppend> waiting = new ArrayDeque<>(1);
  private final Deque<PendingAppend> unclaimed = new ArrayDeque<>(1);
  private List<PendingAppend> unknown = List.of();

  /** The batch whose outcome is unknown; empty for none. */
  List<PendingAppend> unknown() {
    return unknown;
  }

  void setUnknown(List<PendingAppend> batch) {
    unknown = batch;
  }

  void add(PendingAppend append) {
    waiting.addLast(append);
  }

  /** Removes and returns a call that succeeded after its caller had left; null if there is none. */
  @Nullable PendingAppend takeUnclaimed(List<NewEvent> events) {
    PendingAppend earlier = find(unclaimed, events);
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
  @Nullable PendingAppend findUnknown(List<NewEvent> events) {
    return find(unknown, events);
  }

  /** Events are equal only if they share their payload array, so only a repeated call matches. */
  private static @Nullable PendingAppend find(
      Iterable<PendingAppend> among, List<NewEvent> events) {
    for (PendingAppend candidate : among) {
      if (!candidate.isAwaited() && candidate.events().equals(events)) {
        return candidate;
      }
    }
    return null;
  }

  /** The batch with an unknown outcome, or else as many waiting calls as fit into a batch. */
  List<PendingAppend> nextBatch() {
    if (!unknown.isEmpty()) {
      return unknown;
    }
    List<PendingAppend> batch = new ArrayList<>();
    int events = 0;
    long bytes = 0;
    PendingAppend next = waiting.peekFirst();
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

  static List<NewEvent> eventsOf(List<PendingAppend> batch) {
    List<NewEvent> events = new ArrayList<>();
    batch.forEach(call -> events.addAll(call.events()));
    return events;
  }

  /**
   * Completes all calls of a batch.
   *
   * @param last the position of the batch's last event; the other events have the numbers before
   */
  void succeed(List<PendingAppend> batch, Position last) {
    unknown = List.of();
    long number = last.number() - eventsOf(batch).size();
    for (PendingAppend call : batch) {
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
    PendingAppend next = waiting.peekFirst();
    if (next != null) {
      next.turn().signal();
      return;
    }
    unknown.stream()
        .filter(call -> call.isAwaited() && !call.hasOutcome())
        .findFirst()
        .ifPresent(call -> call.turn().signal());
  }
}
