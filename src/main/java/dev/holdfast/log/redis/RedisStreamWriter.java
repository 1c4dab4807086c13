package dev.holdfast.log.redis;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.OutcomeUnknownException;
import dev.holdfast.log.Position;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.redis.RedisUnavailableException;
import dev.holdfast.redis.RedisUnknownOutcomeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Group commit: one caller at a time leads and writes for all that wait.
 *
 * <p>A batch whose outcome is unknown is <em>stuck</em>: nothing else is written before the very
 * same batch was written again, which finds itself if it was written before. Its callers have left
 * by then; one that makes its call again finds its part of the batch, stuck still or settled. Or
 * the batch is passed: then its numbers are, and the next write removes what there may be of it.
 */
final class RedisStreamWriter implements StreamWriter {

  /** Ends a stream whose last event was passed. */
  private static final List<NewEvent> END = List.of(new NewEvent(new byte[0], null, true));

  /** What became of a write: one of the two is there. */
  private record Outcome(@Nullable Position written, @Nullable Throwable failure) {}

  private final StreamRef stream;
  private final StreamRef keptIn;
  private final StreamStore commit;

  private final ReentrantLock lock = new ReentrantLock();

  /** Signalled when nobody leads any more. */
  private final Condition free = lock.newCondition();

  /** This and all below are guarded by the lock. */
  private final PendingAppends pending = new PendingAppends();

  private WriterProgress standing;
  private boolean leading;

  /** Whether the leader only tells where the stream stands; events may be passed meanwhile. */
  private boolean restating;

  /** Whether no more events are taken. */
  private boolean fenced;

  /** Whether the last event of the stream was passed, so that it has yet to get an end. */
  private boolean ending;

  /** Whether Redis may not know where the stream stands, although it was told. */
  private boolean doubted;

  /** Goes on after the event at that position. */
  RedisStreamWriter(StreamRef stream, StreamRef keptIn, Position last, StreamStore commit) {
    this.stream = stream;
    this.keptIn = keptIn;
    this.standing = WriterProgress.at(last);
    this.commit = commit;
  }

  @Override
  public StreamRef stream() {
    return stream;
  }

  @Override
  public StreamRef keptIn() {
    return keptIn;
  }

  /** Refuses all later appends. */
  void fence() {
    lock.lock();
    try {
      lose();
    } finally {
      lock.unlock();
    }
  }

  /** Redis has shown less than it was told: the next {@link #recordSkipped} tells it again. */
  void doubt() {
    lock.lock();
    try {
      doubted = !fenced;
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
          var _ = lead();
        }
      }
      passLeadOn();
      return mine.outcome();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean deliverUnlogged(List<NewEvent> events) {
    NewEvent.requireWellFormed(events);
    lock.lock();
    try {
      while (leading && !restating) {
        free.awaitUninterruptibly();
      }
      if (pending.isUnclaimed(events)) {
        return false;
      }
      if (fenced) {
        throw new FencedException(stream);
      }
      return passAll(pending.stuck(), events);
    } finally {
      lock.unlock();
    }
  }

  /** Passes what is stuck, and the events unless they are stuck themselves. */
  private boolean passAll(List<PendingAppend> stuck, List<NewEvent> events) {
    List<NewEvent> all = new ArrayList<>(PendingAppends.eventsOf(stuck));
    int stuckEvents = all.size();
    if (pending.findStuck(events) == null) {
      all.addAll(events);
    }
    List<LogEvent> passed = standing.following(all);
    if (!commit.pass(passed)) {
      return false;
    }
    if (stuckEvents > 0) {
      pending.succeed(stuck, passed.get(stuckEvents - 1).position());
      // The one whose caller this is: it will not come back for it.
      var _ = pending.claim(events);
    }
    standing = standing.passed(passed);
    if (passed.getLast().last()) {
      ending = true;
      close();
    }
    return true;
  }

  @Override
  public void recordSkipped() {
    lock.lock();
    try {
      long upTo = standing.last().number();
      while (ending || doubted || standing.stored() < upTo) {
        if (leading) {
          free.awaitUninterruptibly();
        } else {
          LogException failure = pending.stuck().isEmpty() ? restate() : lead();
          if (failure != null) {
            throw failure;
          }
        }
      }
    } finally {
      passLeadOn();
      lock.unlock();
    }
  }

  @Override
  public void recordUpstreamCursor(String upstreamId) {
    long number;
    lock.lock();
    try {
      number = standing.last().number();
    } finally {
      lock.unlock();
    }
    commit.note(number, upstreamId);
  }

  private PendingAppend reclaimOrAdd(List<NewEvent> events) {
    PendingAppend earlier = pending.claim(events);
    if (earlier != null) {
      earlier.reclaim();
      return earlier;
    }
    if (fenced) {
      throw new FencedException(stream);
    }
    earlier = pending.findStuck(events);
    if (earlier != null) {
      earlier.reclaim();
      return earlier;
    }
    PendingAppend added = new PendingAppend(events, lock.newCondition());
    pending.add(added);
    return added;
  }

  private void passLeadOn() {
    if (!leading) {
      pending.nudge();
    }
  }

  /** Writes one batch; returns what its callers are told if that fails. */
  private @Nullable LogException lead() {
    boolean again = !pending.stuck().isEmpty();
    List<PendingAppend> batch = pending.nextBatch();
    Outcome outcome = write(standing, PendingAppends.eventsOf(batch));
    if (outcome.written() != null) {
      succeed(batch, outcome.written());
      return null;
    }
    return fail(batch, outcome.failure(), again);
  }

  /** Tells where the stream stands, and gives it an end if its last event was passed. */
  private @Nullable LogException restate() {
    WriterProgress told = standing;
    restating = true;
    Outcome outcome = write(told, ending ? END : List.of());
    restating = false;
    if (outcome.written() == null) {
      return fail(List.of(), outcome.failure(), false);
    }
    standing = ending ? WriterProgress.at(outcome.written()) : standing.told(told);
    ending = false;
    doubted = false;
    return null;
  }

  /** Without the lock while the store works. */
  private Outcome write(WriterProgress told, List<NewEvent> batch) {
    leading = true;
    lock.unlock();
    try {
      return new Outcome(commit.write(told, batch), null);
    } catch (RuntimeException | Error failure) {
      return new Outcome(null, failure);
    } finally {
      lock.lock();
      leading = false;
      free.signalAll();
    }
  }

  private void succeed(List<PendingAppend> batch, Position written) {
    standing = WriterProgress.at(written);
    doubted = false;
    pending.succeed(batch, written);
    if (batch.getLast().isLast()) {
      close();
    }
  }

  /**
   * Tells every caller what its own failure is. A batch that was stuck before stays so even when
   * the store says that it did not write it this time.
   */
  private LogException fail(
      List<PendingAppend> batch, @Nullable Throwable failure, boolean wasStuck) {
    if (failure instanceof FencedException fencedOff) {
      pending.stick(List.of());
      batch.forEach(part -> part.fail(new FencedException(stream)));
      lose();
      return fencedOff;
    }
    boolean unknown = wasStuck || !(failure instanceof RedisUnavailableException);
    pending.stick(unknown ? batch : List.of());
    for (PendingAppend part : batch) {
      part.fail(unknown ? outcomeUnknown(failure) : unavailable(failure));
    }
    pending.failWaiting(() -> unavailable(failure));
    return unknown ? outcomeUnknown(failure) : unavailable(failure);
  }

  /** The stream is somebody else's, or gone: nothing is owed to it any more. */
  private void lose() {
    ending = false;
    doubted = false;
    standing = WriterProgress.at(standing.last());
    close();
  }

  private void close() {
    fenced = true;
    pending.failWaiting(() -> new FencedException(stream));
  }

  private OutcomeUnknownException outcomeUnknown(@Nullable Throwable cause) {
    String why =
        cause instanceof RedisUnknownOutcomeException ? "no answer to" : "still unsettled is";
    return new OutcomeUnknownException(why + " an append to stream " + stream, cause);
  }

  private StoreUnavailableException unavailable(@Nullable Throwable cause) {
    return new StoreUnavailableException("could not append to stream " + stream, cause);
  }
}
