package dev.holdfast.log.redis.write;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReaderWindow;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.redis.RedisException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes one stream, one append at a time. During a long outage of the store, delivers without it,
 * and reports the end of the stream once the store is back. ADR 0010 explains why.
 *
 * <p>After an append with an unknown outcome, nothing else is written before the same events are
 * written again. The store recognizes them if the first attempt has written them. The caller has
 * left by then, and gets the position when it repeats the append.
 *
 * <p>Unlogged events get the next numbers of the stream, as do the events of an append with an
 * unknown outcome. The store skips these numbers: the next write removes any stored copies, and
 * later readers find a gap.
 */
public final class RedisStreamWriter implements StreamWriter {

  /** Ends a stream whose last event was delivered unlogged. */
  private static final List<NewEvent> END = List.of(new NewEvent(new byte[0], null, true));

  /** Maximum number of appends whose callers have left. Callers normally come back at once. */
  private static final int MAX_UNCLAIMED = 64;

  /** The store and the local tail of one stream, as the writer of the stream uses them. */
  interface Store {

    /**
     * Stores a batch and then wakes the tail. An empty batch only records where the stream ends.
     *
     * @return the position of the last event of the stream
     */
    Position write(WriterProgress progress, List<NewEvent> batch);

    /** Stores a batch that is not large as {@link #write} does, without waiting. */
    CompletionStage<Position> writeLater(WriterProgress progress, List<NewEvent> batch);

    /** Gives events to the local tail only; returns false if that is not possible. */
    boolean deliverUnlogged(List<LogEvent> events);

    /** Asks where the connected reader is, because nothing was heard of it. */
    default void findReader() {}

    /** Records, without waiting, the id from which the upstream can resume after an event. */
    void recordUpstreamCursor(long number, String upstreamId);

    /** Gives up the stream, without waiting. */
    default void release() {}
  }

  /** Use of the store by a thread, which releases the lock meanwhile. */
  private enum Use {
    NONE,
    /** The thread writes events. */
    APPEND,
    /** The thread writes no events, but only where the stream ends. */
    REPORT
  }

  private final StreamRef stream;
  private final StreamRef keptIn;
  private final Store store;
  private final ReaderWindow window;

  /** True if appends do not wait for readers. */
  private volatile boolean stopped;

  /** Guards all fields below. */
  private final AutoLock lock = new AutoLock();

  /** Signalled when no thread uses the store any more. */
  private final Condition idle = lock.newCondition();

  private Use use = Use.NONE;

  /** True if the stream takes no more events: it is complete, or this replica has lost it. */
  private boolean closed;

  private WriterProgress progress;

  /** The append with an unknown outcome; empty for none. */
  private List<NewEvent> unknown = List.of();

  /**
   * Appends that succeeded after their callers had left. Events are equal only if they share their
   * payload array, so only a repeated append finds its position.
   */
  private final SequencedMap<List<NewEvent>, Position> unclaimed = new LinkedHashMap<>(0);

  /**
   * @param keptIn the stream that keeps the events, which may be the stream itself
   * @param window flow control of the reader of the stream that keeps the events
   * @param last the position of the stream's last event
   */
  RedisStreamWriter(
      StreamRef stream, StreamRef keptIn, Store store, ReaderWindow window, Position last) {
    this.window = window;
    this.stream = stream;
    this.keptIn = keptIn;
    this.store = store;
    this.progress = WriterProgress.at(last);
  }

  @Override
  public StreamRef stream() {
    return stream;
  }

  @Override
  public StreamRef keptIn() {
    return keptIn;
  }

  @Override
  public boolean isFollowed() {
    return window.isFollowed();
  }

  @Override
  public Position append(List<NewEvent> events) {
    NewEvent.requireWellFormed(events);
    try (var _ = lock.hold()) {
      while (true) {
        if (use != Use.NONE) {
          idle.awaitUninterruptibly();
          continue;
        }
        Position earlier = unclaimed.remove(events);
        if (earlier != null) {
          return earlier;
        }
        requireOpen();
        if (unknown.isEmpty() || unknown.equals(events)) {
          return write(List.copyOf(events));
        }
        try {
          writeUnknown();
        } catch (LogException.OutcomeUnknown failure) {
          throw unavailable(failure); // The outcome of the other append is known: it did not begin.
        }
      }
    }
  }

  @Override
  public boolean hasRoom(List<NewEvent> events) {
    return stopped || !window.isClosed();
  }

  @Override
  public void awaitRoom(List<NewEvent> events) throws InterruptedException {
    window.await(() -> stopped, store::findReader);
  }

  @Override
  public void stopWaiting() {
    stopped = true;
    window.wake();
  }

  @Override
  public boolean appendLater(List<NewEvent> events, Consumer<Boolean> then) {
    NewEvent.requireWellFormed(events);
    if (!keptIn.equals(stream) || AppendScripts.isLarge(events) || !lock.tryLock()) {
      return false;
    }
    WriterProgress from = progress;
    try {
      if (use != Use.NONE || closed || !unknown.isEmpty()) {
        return false;
      }
      use = Use.APPEND;
    } finally {
      lock.unlock();
    }
    CompletionStage<Position> written;
    try {
      written = store.writeLater(from, events);
    } catch (Throwable notBegun) {
      written = CompletableFuture.failedStage(notBegun);
    }
    var _ = written.whenComplete((position, _) -> appended(events, position, then));
    return true;
  }

  /** Ends an append that no thread waits for; {@code position} is null if it failed. */
  private void appended(
      List<NewEvent> events, @Nullable Position position, Consumer<Boolean> then) {
    boolean inLog = false;
    try (var _ = lock.hold()) {
      use = Use.NONE;
      idle.signalAll();
      unknown = events; // If the append failed, the repeated one finds out what has happened.
      if (position != null) {
        advance(events, position);
        inLog = true;
      }
    } finally {
      then.accept(inLog);
    }
  }

  /** Notes that the store has these events. */
  private void advance(List<NewEvent> events, Position written) {
    progress = WriterProgress.at(written);
    closed |= events.getLast().last();
    unknown = List.of();
  }

  private void writeUnknown() {
    List<NewEvent> repeated = unknown;
    keep(repeated, write(repeated));
  }

  /** Keeps the position of an append for the caller that repeats it. */
  private void keep(List<NewEvent> events, Position position) {
    unclaimed.put(events, position);
    if (unclaimed.size() > MAX_UNCLAIMED) {
      var _ = unclaimed.pollFirstEntry();
    }
  }

  private Position write(List<NewEvent> events) {
    boolean retry = !unknown.isEmpty();
    try {
      Position written = useStore(Use.APPEND, progress, events);
      advance(events, written);
      return written;
    } catch (LogException.Fenced fenced) {
      unknown = List.of();
      lose();
      throw fenced;
    } catch (RedisException.Unavailable failure) {
      // An attempt before this one may have written the events.
      unknown = retry ? events : List.of();
      throw retry ? outcomeUnknown(failure) : unavailable(failure);
    } catch (RuntimeException | Error failure) {
      unknown = events;
      throw outcomeUnknown(failure);
    }
  }

  /** Releases the lock and calls the store. */
  private Position useStore(Use now, WriterProgress from, List<NewEvent> events) {
    use = now;
    lock.unlock();
    try {
      return store.write(from, events);
    } finally {
      lock.lock();
      use = Use.NONE;
      idle.signalAll();
    }
  }

  @Override
  public void recordUpstreamCursor(String upstreamId) {
    long number;
    try (var _ = lock.hold()) {
      number = progress.last().number();
    }
    store.recordUpstreamCursor(number, upstreamId);
  }

  @Override
  public void release() {
    store.release();
  }

  /** Refuses all later appends: the session has ended. */
  void fence() {
    try (var _ = lock.hold()) {
      lose();
    }
  }

  /** Closes the writer of a stream that this replica does not own any more. No report is due. */
  private void lose() {
    progress = WriterProgress.at(progress.last());
    closed = true;
  }

  private void requireOpen() {
    if (closed) {
      throw new LogException.Fenced(stream);
    }
  }

  @Override
  public boolean deliverUnlogged(List<NewEvent> events) {
    NewEvent.requireWellFormed(events);
    try (var _ = lock.hold()) {
      // Events must not overtake an append. A report writes no events, so it may continue.
      while (use == Use.APPEND) {
        idle.awaitUninterruptibly();
      }
      if (unclaimed.containsKey(events)) {
        return false;
      }
      requireOpen();
      return deliverWithUnknown(events);
    }
  }

  /** Delivers the events with unknown outcome, and then the others, unless they are the same. */
  private boolean deliverWithUnknown(List<NewEvent> events) {
    List<NewEvent> all = new ArrayList<>(unknown);
    boolean same = unknown.equals(events);
    if (!same) {
      all.addAll(events);
    }
    List<LogEvent> unlogged = progress.nextPositions(all);
    if (!store.deliverUnlogged(unlogged)) {
      return false;
    }
    if (!same && !unknown.isEmpty()) {
      keep(unknown, unlogged.get(unknown.size() - 1).position());
    }
    unknown = List.of();
    progress = progress.afterUnlogged(unlogged);
    closed |= unlogged.getLast().last();
    return true;
  }

  /** Reports the end of the stream again, after the store has shown an older one. */
  public void restate() {
    try (var _ = lock.hold()) {
      if (!closed) {
        progress = progress.inDoubt();
      }
    }
    recordSkipped();
  }

  @Override
  public void recordSkipped() {
    try (var _ = lock.hold()) {
      long number = progress.last().number();
      while (!progress.isReported(number)) {
        if (use != Use.NONE) {
          idle.awaitUninterruptibly();
        } else if (unknown.isEmpty()) {
          report();
        } else {
          writeUnknown();
        }
      }
    }
  }

  /** Reports the last position, or writes the end of a stream whose last event was unlogged. */
  private void report() {
    WriterProgress reported = progress;
    try {
      Position written =
          useStore(
              Use.REPORT, reported, reported.debt() == WriterProgress.Debt.END ? END : List.of());
      progress = progress.afterReport(reported, written);
    } catch (LogException.Fenced fenced) {
      lose();
      throw fenced;
    } catch (RedisException.Unavailable failure) {
      throw unavailable(failure);
    } catch (RuntimeException | Error failure) {
      throw outcomeUnknown(failure);
    }
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
