package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisException;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Appends to one stream: one caller at a time writes the events of all callers that wait.
 *
 * <p>After a write with an unknown outcome, nothing else is written before the same batch is
 * written again. The store recognizes the batch if the first attempt has written it. Its callers
 * have left by then; a caller that repeats its call resumes its part of the batch.
 *
 * <p>Callers of all methods except {@link #append}, {@link #fence} and {@link #lastNumber} hold the
 * {@link #lock}.
 */
final class GroupCommit {

  /** The store and the local tail of one stream, as the writer of the stream uses them. */
  interface Store {

    /**
     * Stores a batch and then wakes the tail. An empty batch only records where the stream ends.
     *
     * @return the position of the last event of the stream
     */
    Position write(WriterProgress progress, List<NewEvent> batch);

    /** Gives events to the local tail only; returns false if that is not possible. */
    boolean deliverUnlogged(List<LogEvent> events);

    /** Records, without waiting, the id from which the upstream can resume after an event. */
    void recordUpstreamCursor(long number, String upstreamId);
  }

  /** The result of a call to the store: one of the two. */
  record Outcome(@Nullable Position written, @Nullable Throwable failure) {}

  /** Guards all state of the writer. */
  final ReentrantLock lock = new ReentrantLock();

  /** Signalled when no caller uses the store any more. */
  final Condition idle = lock.newCondition();

  private final StreamRef stream;
  private final Store store;
  private final PendingAppends pending = new PendingAppends();
  private WriterProgress progress;

  /** Whether a caller uses the store. It releases the lock meanwhile. */
  private boolean storeInUse;

  /** Whether the stream takes no more events: it is complete, or this replica has lost it. */
  private boolean closed;

  /**
   * @param last the position of the stream's last event
   */
  GroupCommit(StreamRef stream, Store store, Position last) {
    this.stream = stream;
    this.store = store;
    this.progress = WriterProgress.at(last);
  }

  /** Appends as {@link dev.holdfast.log.StreamWriter#append} promises. */
  Position append(List<NewEvent> events) {
    lock.lock();
    try {
      PendingAppends.Call call = resumeOrAdd(List.copyOf(events));
      while (!call.hasOutcome()) {
        if (storeInUse) {
          call.turn().awaitUninterruptibly();
        } else {
          var _ = writeBatch();
        }
      }
      signalNext();
      return call.leave();
    } finally {
      lock.unlock();
    }
  }

  private PendingAppends.Call resumeOrAdd(List<NewEvent> events) {
    PendingAppends.Call earlier = pending.takeUnclaimed(events);
    if (earlier != null) {
      return earlier.resume();
    }
    requireOpen();
    earlier = pending.findUnknown(events);
    if (earlier != null) {
      return earlier.resume();
    }
    PendingAppends.Call added = new PendingAppends.Call(events, lock.newCondition());
    pending.add(added);
    return added;
  }

  /** Writes one batch. Returns the failure, which the callers of the batch get too. */
  @Nullable LogException writeBatch() {
    boolean retry = !pending.unknown().isEmpty();
    List<PendingAppends.Call> batch = pending.nextBatch();
    Outcome outcome = write(progress, PendingAppends.eventsOf(batch));
    if (outcome.written() == null) {
      return fail(batch, outcome.failure(), retry);
    }
    progress = WriterProgress.at(outcome.written());
    pending.succeed(batch, outcome.written());
    if (batch.getLast().isLast()) {
      close();
    }
    return null;
  }

  /** Releases the lock and calls the store. */
  Outcome write(WriterProgress from, List<NewEvent> events) {
    storeInUse = true;
    lock.unlock();
    try {
      return new Outcome(store.write(from, events), null);
    } catch (RuntimeException | Error failure) {
      return new Outcome(null, failure);
    } finally {
      lock.lock();
      storeInUse = false;
      idle.signalAll();
    }
  }

  /**
   * Tells each caller of a batch about its failure.
   *
   * @param retry whether the outcome of the batch was unknown before; it then stays unknown, even
   *     if this attempt was not executed
   */
  LogException fail(List<PendingAppends.Call> batch, @Nullable Throwable failure, boolean retry) {
    if (failure instanceof LogException.Fenced fenced) {
      pending.setUnknown(List.of());
      batch.forEach(call -> call.fail(new LogException.Fenced(stream)));
      lose();
      return fenced;
    }
    boolean unknown = retry || !(failure instanceof RedisException.Unavailable);
    pending.setUnknown(unknown ? batch : List.of());
    for (PendingAppends.Call call : batch) {
      call.fail(unknown ? outcomeUnknown(failure) : unavailable(failure));
    }
    pending.failWaiting(() -> unavailable(failure));
    return unknown ? outcomeUnknown(failure) : unavailable(failure);
  }

  /** Refuses all later appends: the session has ended. */
  void fence() {
    lock.lock();
    try {
      lose();
    } finally {
      lock.unlock();
    }
  }

  long lastNumber() {
    lock.lock();
    try {
      return progress.last().number();
    } finally {
      lock.unlock();
    }
  }

  /** Closes the writer of a stream that this replica does not own any more. No report is due. */
  private void lose() {
    progress = WriterProgress.at(progress.last());
    close();
  }

  /** Refuses all later appends. */
  void close() {
    closed = true;
    pending.failWaiting(() -> new LogException.Fenced(stream));
  }

  boolean isClosed() {
    return closed;
  }

  void requireOpen() {
    if (closed) {
      throw new LogException.Fenced(stream);
    }
  }

  boolean isStoreInUse() {
    return storeInUse;
  }

  /** Lets the next caller write, unless another one is writing. */
  void signalNext() {
    if (!storeInUse) {
      pending.signalNext();
    }
  }

  PendingAppends pending() {
    return pending;
  }

  WriterProgress progress() {
    return progress;
  }

  void setProgress(WriterProgress changed) {
    progress = changed;
  }

  private LogException.OutcomeUnknown outcomeUnknown(@Nullable Throwable cause) {
    String why =
        cause instanceof RedisException.UnknownOutcome
            ? "no answer to an append to stream "
            : "outcome still unknown for an append to stream ";
    return new LogException.OutcomeUnknown(why + stream, cause);
  }

  private LogException.StoreUnavailable unavailable(@Nullable Throwable cause) {
    return new LogException.StoreUnavailable("could not append to stream " + stream, cause);
  }
}
