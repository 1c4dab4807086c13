package dev.holdfast.log.redis;

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
 * The calls of append of one writer that wait, are stuck, or were settled while nobody waited for
 * them. All of it is guarded by the writer's lock.
 */
final class PendingAppends {

  private static final int MAX_BATCH_EVENTS = 512;
  private static final long MAX_BATCH_BYTES = 1024 * 1024;

  /** Settled calls that wait for their callers to come back; these normally do so at once. */
  private static final int MAX_UNCLAIMED = 64;

  private final Deque<PendingAppend> waiting = new ArrayDeque<>(1);
  private Deque<PendingAppend> unclaimed = new ArrayDeque<>(1);
  private List<PendingAppend> stuck = List.of();

  /** The batch whose outcome is unknown; empty for none. */
  List<PendingAppend> stuck() {
    return stuck;
  }

  void stick(List<PendingAppend> batch) {
    stuck = batch;
  }

  void add(PendingAppend append) {
    waiting.addLast(append);
  }

  /** A call that was settled while nobody waited for it, if it is made again now. */
  @Nullable PendingAppend claim(List<NewEvent> events) {
    PendingAppend earlier = find(unclaimed, events);
    if (earlier != null) {
      unclaimed.remove(earlier);
    }
    return earlier;
  }

  /** Whether a call was settled while nobody waited for it. */
  boolean isUnclaimed(List<NewEvent> events) {
    return find(unclaimed, events) != null;
  }

  /** A call that is stuck and that nobody waits for, if it is made again now. */
  @Nullable PendingAppend findStuck(List<NewEvent> events) {
    return find(stuck, events);
  }

  /** Two events are the same if they share their payload, so only a repeated call matches. */
  private static @Nullable PendingAppend find(Iterable<PendingAppend> left, List<NewEvent> events) {
    for (PendingAppend candidate : left) {
      if (!candidate.isAwaited() && candidate.events().equals(events)) {
        return candidate;
      }
    }
    return null;
  }

  /** What is to be written next: what is stuck, or as much as fits of what waits. */
  List<PendingAppend> nextBatch() {
    if (!stuck.isEmpty()) {
      return stuck;
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
      // What comes after the last event is refused, not written.
      next = next.isLast() ? null : waiting.peekFirst();
    }
    return batch;
  }

  /** The events of calls, one after the other. */
  static List<NewEvent> eventsOf(List<PendingAppend> batch) {
    List<NewEvent> events = new ArrayList<>();
    batch.forEach(part -> events.addAll(part.events()));
    return events;
  }

  /** A batch has its place: its last event this position, the others the numbers before. */
  void succeed(List<PendingAppend> batch, Position last) {
    stuck = List.of();
    long number = last.number() - eventsOf(batch).size();
    for (PendingAppend part : batch) {
      number += part.events().size();
      part.succeed(new Position(last.millis(), number));
      if (!part.isAwaited()) {
        unclaimed.addLast(part);
      }
    }
    while (unclaimed.size() > MAX_UNCLAIMED) {
      unclaimed.removeFirst();
    }
  }

  void failWaiting(Supplier<LogException> why) {
    waiting.forEach(part -> part.fail(why.get()));
    waiting.clear();
  }

  /** Wakes one caller who can lead, if there is something to write. */
  void nudge() {
    PendingAppend next = waiting.peekFirst();
    if (next != null) {
      next.nudge();
      return;
    }
    for (PendingAppend candidate : stuck) {
      if (candidate.isAwaited() && !candidate.isSettled()) {
        candidate.nudge();
        return;
      }
    }
  }
}
