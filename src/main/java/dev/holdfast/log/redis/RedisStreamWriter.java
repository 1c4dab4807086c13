package dev.holdfast.log.redis;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.OutcomeUnknownException;
import dev.holdfast.log.Position;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.redis.RedisUnavailableException;
import dev.holdfast.redis.RedisUnknownOutcomeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Group commit: one caller at a time leads and writes for all that wait.
 *
 * <p>A batch whose outcome is unknown is <em>stuck</em>: nothing else is written before the very
 * same batch was written again, which finds itself if it was written before. Its callers have left
 * by then; one that makes its call again finds its part of the batch, stuck still or settled.
 */
final class RedisStreamWriter implements StreamWriter {

  private static final int MAX_BATCH_EVENTS = 512;
  private static final long MAX_BATCH_BYTES = 1024 * 1024;

  /** Settled calls that wait for their callers to come back; these normally do so at once. */
  private static final int MAX_UNCLAIMED = 64;

  /** The store. Writes a batch after the given number, and makes it known. */
  interface Commit {
    Position write(long expected, List<NewEvent> batch);

    /** Notes, after the event of that number, from where the upstream can go on. */
    void note(long last, String upstreamId);
  }

  private final StreamRef stream;
  private final Commit commit;

  private final ReentrantLock lock = new ReentrantLock();

  /** This and all below are guarded by the lock. */
  private final Deque<PendingAppend> waiting = new ArrayDeque<>(1);

  private List<PendingAppend> stuck = List.of();
  private Deque<PendingAppend> unclaimed = new ArrayDeque<>(1);
  private long last;
  private boolean leading;
  private boolean fenced;

  /** Goes on after the event of that number. */
  RedisStreamWriter(StreamRef stream, long last, Commit commit) {
    this.stream = stream;
    this.last = last;
    this.commit = commit;
  }

  @Override
  public StreamRef stream() {
    return stream;
  }

  /** Refuses all later appends. */
  void fence() {
    lock.lock();
    try {
      fenced = true;
      failWaiting(() -> new FencedException(stream));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Position append(List<NewEvent> events) {
    NewEvent.requireWellFormed(events);
    lock.lock();
    try {
      PendingAppend mine = reclaimOrAdd(List.copyOf(events));
      while (!mine.isSettled()) {
        if (leading) {
          mine.turn().awaitUninterruptibly();
        } else {
          lead();
        }
      }
      passLeadOn();
      return mine.outcome();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void note(String upstreamId) {
    long number;
    lock.lock();
    try {
      number = last;
    } finally {
      lock.unlock();
    }
    commit.note(number, upstreamId);
  }

  private PendingAppend reclaimOrAdd(List<NewEvent> events) {
    PendingAppend earlier = reclaim(unclaimed, events);
    if (earlier != null) {
      unclaimed.remove(earlier);
      return earlier;
    }
    if (fenced) {
      throw new FencedException(stream);
    }
    earlier = reclaim(stuck, events);
    if (earlier != null) {
      return earlier;
    }
    PendingAppend added = new PendingAppend(events, lock.newCondition());
    waiting.addLast(added);
    return added;
  }

  /** Two events are the same if they share their payload, so only a repeated call matches. */
  private static @Nullable PendingAppend reclaim(
      Iterable<PendingAppend> left, List<NewEvent> events) {
    for (PendingAppend candidate : left) {
      if (!candidate.isAwaited() && candidate.events().equals(events)) {
        candidate.reclaim();
        return candidate;
      }
    }
    return null;
  }

  /** Wakes one who can lead, when nobody does and there is something to write. */
  private void passLeadOn() {
    if (leading) {
      return;
    }
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

  /** Writes one batch, without the lock while the store works. */
  private void lead() {
    boolean again = !stuck.isEmpty();
    List<PendingAppend> batch = again ? stuck : takeBatch();
    List<NewEvent> events = new ArrayList<>();
    batch.forEach(part -> events.addAll(part.events()));
    long expected = last;
    leading = true;
    Position written = null;
    Throwable failure = null;
    lock.unlock();
    try {
      written = commit.write(expected, events);
    } catch (RuntimeException | Error failed) {
      failure = failed;
    } finally {
      lock.lock();
      leading = false;
    }
    if (written != null) {
      settle(batch, written);
    } else if (failure != null) {
      fail(batch, failure, again);
    }
  }

  private List<PendingAppend> takeBatch() {
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

  private void settle(List<PendingAppend> batch, Position written) {
    stuck = List.of();
    for (PendingAppend part : batch) {
      last += part.events().size();
      part.succeed(new Position(written.millis(), last));
      if (!part.isAwaited()) {
        unclaimed.addLast(part);
      }
    }
    while (unclaimed.size() > MAX_UNCLAIMED) {
      unclaimed.removeFirst();
    }
    if (batch.getLast().isLast()) {
      fenced = true;
      failWaiting(() -> new FencedException(stream));
    }
  }

  /**
   * Tells every caller what its own failure is. A batch that was stuck before stays so even when
   * the store says that it did not write it this time.
   */
  private void fail(List<PendingAppend> batch, Throwable failure, boolean wasStuck) {
    if (failure instanceof FencedException) {
      fenced = true;
      stuck = List.of();
      batch.forEach(part -> part.fail(new FencedException(stream)));
      failWaiting(() -> new FencedException(stream));
      return;
    }
    boolean unknown = wasStuck || !(failure instanceof RedisUnavailableException);
    stuck = unknown ? batch : List.of();
    for (PendingAppend part : batch) {
      part.fail(unknown ? outcomeUnknown(failure) : unavailable(failure));
    }
    failWaiting(() -> unavailable(failure));
  }

  private void failWaiting(Supplier<LogException> why) {
    waiting.forEach(part -> part.fail(why.get()));
    waiting.clear();
  }

  private OutcomeUnknownException outcomeUnknown(Throwable cause) {
    String why =
        cause instanceof RedisUnknownOutcomeException ? "no answer to" : "still unsettled is";
    return new OutcomeUnknownException(why + " an append to stream " + stream, cause);
  }

  private StoreUnavailableException unavailable(Throwable cause) {
    return new StoreUnavailableException("could not append to stream " + stream, cause);
  }
}
