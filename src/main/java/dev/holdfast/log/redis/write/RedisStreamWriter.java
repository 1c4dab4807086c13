package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes one stream. Appends to the log. During a long outage of the store, delivers without it,
 * and reports the end of the stream once the store is back. ADR 0010 explains why.
 *
 * <p>Unlogged events get the next numbers of the stream, as do the events of a batch with unknown
 * outcome. The store skips these numbers: the next write removes any stored copies, and later
 * readers find a gap.
 */
public final class RedisStreamWriter implements StreamWriter {

  /** Ends a stream whose last event was delivered unlogged. */
  private static final List<NewEvent> END = List.of(new NewEvent(new byte[0], null, true));

  private final StreamRef stream;
  private final StreamRef keptIn;
  private final GroupCommit.Store store;
  private final GroupCommit commit;

  /** Whether a report uses the store. Guarded by the lock of the commit. */
  private boolean reporting;

  /**
   * @param keptIn the stream that keeps the events, which may be the stream itself
   * @param last the position of the stream's last event
   */
  RedisStreamWriter(StreamRef stream, StreamRef keptIn, GroupCommit.Store store, Position last) {
    this.stream = stream;
    this.keptIn = keptIn;
    this.store = store;
    this.commit = new GroupCommit(stream, store, last);
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
  public Position append(List<NewEvent> events) {
    NewEvent.requireWellFormed(events);
    return commit.append(events);
  }

  @Override
  public void recordUpstreamCursor(String upstreamId) {
    store.recordUpstreamCursor(commit.lastNumber(), upstreamId);
  }

  void fence() {
    commit.fence();
  }

  @Override
  public boolean deliverUnlogged(List<NewEvent> events) {
    NewEvent.requireWellFormed(events);
    commit.lock.lock();
    try {
      // Events must not overtake an append. A report writes no events, so it may continue.
      while (commit.isStoreInUse() && !reporting) {
        commit.idle.awaitUninterruptibly();
      }
      if (commit.pending().isUnclaimed(events)) {
        return false;
      }
      commit.requireOpen();
      return deliverWithUnknown(events);
    } finally {
      commit.lock.unlock();
    }
  }

  /** Delivers the batch with unknown outcome, and then the events unless the batch has them. */
  private boolean deliverWithUnknown(List<NewEvent> events) {
    PendingAppends pending = commit.pending();
    List<PendingAppends.Call> unknown = pending.unknown();
    List<NewEvent> all = new ArrayList<>(PendingAppends.eventsOf(unknown));
    int unknownEvents = all.size();
    if (pending.findUnknown(events) == null) {
      all.addAll(events);
    }
    List<LogEvent> unlogged = commit.progress().nextPositions(all);
    if (!store.deliverUnlogged(unlogged)) {
      return false;
    }
    if (unknownEvents > 0) {
      pending.succeed(unknown, unlogged.get(unknownEvents - 1).position());
      // The caller also made that append, and does not repeat it.
      var _ = pending.takeUnclaimed(events);
    }
    commit.setProgress(commit.progress().afterUnlogged(unlogged));
    if (unlogged.getLast().last()) {
      commit.close();
    }
    return true;
  }

  /** Reports the end of the stream again, after the store has shown an older one. */
  public void restate() {
    commit.lock.lock();
    try {
      if (!commit.isClosed()) {
        commit.setProgress(commit.progress().inDoubt());
      }
    } finally {
      commit.lock.unlock();
    }
    recordSkipped();
  }

  @Override
  public void recordSkipped() {
    commit.lock.lock();
    try {
      long number = commit.progress().last().number();
      while (!commit.progress().isReported(number)) {
        if (commit.isStoreInUse()) {
          commit.idle.awaitUninterruptibly();
        } else {
          LogException failure =
              commit.pending().unknown().isEmpty() ? report() : commit.writeBatch();
          if (failure != null) {
            throw failure;
          }
        }
      }
    } finally {
      commit.signalNext();
      commit.lock.unlock();
    }
  }

  /** Reports the last position, or writes the end of a stream whose last event was unlogged. */
  private @Nullable LogException report() {
    WriterProgress reported = commit.progress();
    reporting = true;
    GroupCommit.Outcome outcome =
        commit.write(reported, reported.debt() == WriterProgress.Debt.END ? END : List.of());
    reporting = false;
    Position written = outcome.written();
    if (written == null) {
      return commit.fail(List.of(), outcome.failure(), false);
    }
    commit.setProgress(commit.progress().afterReport(reported, written));
    return null;
  }
}
