package dev.holdfast.relay;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLog.Watcher;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A real log whose store is away when a test wants it. */
public final class FaultyLog implements EventLog {

  private final EventLog target;

  /** The number of reads that succeed before the store is away. */
  public final AtomicInteger reads = new AtomicInteger(Integer.MAX_VALUE);

  /** The number of the next reads that find the store away. */
  public final AtomicInteger failingReads = new AtomicInteger();

  /** Whether the store is away for everything except reads. */
  public volatile boolean away;

  /** Whether a tail gets events that the store does not take. */
  public volatile boolean writtenHere;

  public final AtomicInteger retired = new AtomicInteger();

  /** The number of tails that left an open stream. */
  public final AtomicInteger left = new AtomicInteger();

  /** Runs just before a watch begins. */
  volatile Runnable beforeWatch = () -> {};

  /** Runs before a session ends. */
  volatile Runnable beforeEnd = () -> {};

  /** Runs between a read and its return. */
  public volatile Runnable afterRead = () -> {};

  /** Runs between the record of an owner and the return of its writer. */
  public volatile Consumer<StreamRef> afterOpen = stream -> {};

  public FaultyLog(EventLog target) {
    this.target = target;
  }

  private EventLog target() {
    if (away) {
      throw new LogException.StoreUnavailable("the store is away", null);
    }
    return target;
  }

  @Override
  public void begin(LogKey session, String client) {
    target().begin(session, client);
  }

  @Override
  public void end(LogKey session) {
    beforeEnd.run();
    target().end(session);
  }

  @Override
  public StreamWriter open(StreamRef stream, String requests, String tool, @Nullable String into) {
    StreamWriter writer = target().open(stream, requests, tool, into);
    afterOpen.accept(stream);
    return writer;
  }

  @Override
  public void openShared(StreamRef stream) {
    target().openShared(stream);
  }

  @Override
  public ReadResult read(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    if (failingReads.getAndUpdate(left -> Math.max(0, left - 1)) > 0
        || reads.getAndDecrement() <= 0) {
      throw new LogException.StoreUnavailable("the store is away", null);
    }
    ReadResult found = target.read(stream, after, maxEvents, maxBytes);
    afterRead.run();
    return found;
  }

  @Override
  public Optional<Position> newest(StreamRef stream) {
    return target().newest(stream);
  }

  @Override
  public Optional<Position> newestUntil(StreamRef stream, long millis) {
    return target().newestUntil(stream, millis);
  }

  @Override
  public Optional<Position> beforeOldest(StreamRef stream) {
    return target().beforeOldest(stream);
  }

  @Override
  public EventLog.Watch watch(StreamRef stream, @Nullable Position cursor, Watcher watcher) {
    beforeWatch.run();
    EventLog.Watch watch = target().watch(stream, cursor, watcher);
    return new EventLog.Watch() {
      @Override
      public String requests() {
        return watch.requests();
      }

      @Override
      public void advanced(Position cursor, long bytes) {
        watch.advanced(cursor, bytes);
      }

      @Override
      public void leave(boolean mayBeComplete) {
        left.incrementAndGet();
      }

      @Override
      public void close() {
        watch.close();
      }
    };
  }

  @Override
  public EventLog.Watch watchShared(StreamRef stream, Watcher watcher) {
    return target().watchShared(stream, watcher);
  }

  @Override
  public boolean isWrittenHere(StreamRef stream) {
    return writtenHere;
  }

  @Override
  public void markDelivered(StreamRef stream, Position position) {
    target.markDelivered(stream, position);
  }

  @Override
  public Position deliveredUpTo(StreamRef stream) {
    return target().deliveredUpTo(stream);
  }

  @Override
  public void markFullyDelivered(StreamRef stream, boolean keep) {
    retired.incrementAndGet();
    target.markFullyDelivered(stream, keep);
  }

  @Override
  public void sweep() {
    target().sweep();
  }

  @Override
  public void check() {
    target().check();
  }

  @Override
  public EventLog.Size depth() {
    return target().depth();
  }

  @Override
  public void close() {
    target.close();
  }
}
