package dev.holdfast.log.redis;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.FencedException;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The streams that this replica writes, as long as they are open or have a local tail. */
final class OwnedStreams {

  private final LogScripts scripts;
  private final WatcherRegistry watchers;
  private final ByteBudget budget = ByteBudget.ofHeap(16, 32 << 20);
  private final Map<StreamRef, OwnedStream> streams = new ConcurrentHashMap<>();

  /** Streams of which it is being asked, or not yet known, whether they could be opened. */
  private final Set<StreamRef> opening = ConcurrentHashMap.newKeySet();

  OwnedStreams(LogScripts scripts, WatcherRegistry watchers) {
    this.scripts = scripts;
    this.watchers = watchers;
  }

  @Nullable OwnedStream find(StreamRef stream) {
    return streams.get(stream);
  }

  Set<StreamRef> all() {
    return streams.keySet();
  }

  /** Whether the stream has a writer here, or is about to get one. */
  boolean isWritten(StreamRef stream) {
    OwnedStream own = streams.get(stream);
    return opening.contains(stream) || (own != null && !own.head().isComplete());
  }

  /**
   * Opens a stream and adds it.
   *
   * @param script opens it in the store
   */
  RedisStreamWriter open(StreamRef stream, String owner, @Nullable String into, Runnable script) {
    opening.add(stream);
    try {
      script.run();
      return opened(stream, owner, into);
    } finally {
      opening.remove(stream);
    }
  }

  /** Adds a stream that was just opened. */
  private RedisStreamWriter opened(StreamRef stream, String owner, @Nullable String into) {
    return add(stream, owner, Position.START, into, into == null);
  }

  /** Adds a stream that another replica, which has its tail, opened in the name of this one. */
  RedisStreamWriter asked(StreamRef stream, String owner, @Nullable String into) {
    return add(stream, owner, Position.START, into, false);
  }

  /** Adds a stream that was just claimed; the record of its tail is still the former owner's. */
  RedisStreamWriter claimed(StreamRef stream, String owner, Position last, @Nullable String into) {
    return add(stream, owner, last, into, false);
  }

  private RedisStreamWriter add(
      StreamRef stream, String owner, Position last, @Nullable String into, boolean recordedTail) {
    StreamRef keptIn = into == null ? stream : new StreamRef(stream.session(), into);
    RecentEvents head = new RecentEvents(budget, last);
    RedisStreamWriter writer =
        new RedisStreamWriter(
            stream,
            keptIn,
            last,
            new StreamStore() {
              @Override
              public Position write(WriterProgress standing, List<NewEvent> batch) {
                return commit(stream, keptIn, owner, head, standing, batch);
              }

              @Override
              public boolean pass(List<LogEvent> events) {
                return OwnedStreams.this.pass(stream, head, events);
              }

              @Override
              public void note(long number, String upstreamId) {
                scripts.note(stream, owner, number, upstreamId);
              }
            });
    streams.put(stream, new OwnedStream(writer, head, recordedTail));
    return writer;
  }

  /** Writes a batch, and then makes it known here, while its callers still wait. */
  private Position commit(
      StreamRef stream,
      StreamRef keptIn,
      String owner,
      RecentEvents head,
      WriterProgress standing,
      List<NewEvent> batch) {
    Position last;
    try {
      last =
          keptIn.equals(stream)
              ? scripts.append(stream, owner, standing, batch)
              : scripts.merge(stream, keptIn, owner, standing.last(), batch);
    } catch (FencedException replaced) {
      lost(stream, head);
      throw replaced;
    }
    head.setActive(isWanted(stream));
    if (batch.isEmpty()) {
      head.settled(last);
    } else {
      head.committed(positioned(batch, last));
    }
    watchers.wake(keptIn);
    if (head.isComplete()) {
      forgetIfIdle(stream);
    }
    return last;
  }

  private boolean pass(StreamRef stream, RecentEvents head, List<LogEvent> events) {
    boolean passed = watchers.isWatched(stream) && head.passed(events);
    if (passed) {
      watchers.wake(stream);
    }
    return passed;
  }

  /** Another replica writes the stream: what is kept of it here is old, and a tail must look. */
  private void lost(StreamRef stream, RecentEvents head) {
    head.setActive(false);
    streams.computeIfPresent(stream, (ref, owned) -> owned.head() == head ? null : owned);
    watchers.wake(stream);
  }

  /** All events of a batch have its last one's time, and the numbers before its number. */
  private static List<LogEvent> positioned(List<NewEvent> batch, Position last) {
    List<LogEvent> events = new ArrayList<>(batch.size());
    long number = last.number() - batch.size();
    for (NewEvent event : batch) {
      number++;
      Position position = new Position(last.millis(), number);
      events.add(new LogEvent(position, event.payload(), event.upstreamId(), event.last()));
    }
    return events;
  }

  /** Its local tail has left. */
  void left(StreamRef stream) {
    OwnedStream owned = streams.get(stream);
    if (owned != null) {
      owned.head().setActive(false);
      forgetIfIdle(stream);
    }
  }

  private boolean isWanted(StreamRef stream) {
    OwnedStream owned = streams.get(stream);
    return watchers.isWatched(stream) || (owned != null && owned.isAwaited());
  }

  private void forgetIfIdle(StreamRef stream) {
    OwnedStream owned = streams.get(stream);
    if (owned != null && owned.head().isComplete() && !isWanted(stream)) {
      forget(stream);
    }
  }

  /** Forgets complete streams whose first watcher never came. */
  void sweep() {
    streams.keySet().forEach(this::forgetIfIdle);
  }

  void forget(StreamRef stream) {
    OwnedStream owned = streams.remove(stream);
    if (owned != null) {
      owned.head().setActive(false);
    }
  }

  /** Fences the writers of a session that has ended. */
  void end(String session) {
    for (StreamRef stream : List.copyOf(streams.keySet())) {
      OwnedStream owned = stream.session().equals(session) ? streams.get(stream) : null;
      if (owned != null) {
        owned.writer().fence();
        forget(stream);
      }
    }
  }

  /** Messages may have been missed. */
  void doubtAll() {
    streams.values().forEach(owned -> owned.head().doubt());
  }
}
