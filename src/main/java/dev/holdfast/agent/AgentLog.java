package dev.holdfast.agent;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.retry.Backoff;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The events of one agent session, which are a stream of their MCP session in the event log. The
 * index of an event is the number of its position. Appends are for one thread at a time; reads are
 * thread-safe.
 */
final class AgentLog {

  /** Distance of two known positions. A read skips fewer events than that. */
  private static final int MARK_DISTANCE = 32;

  private static final int PAGE_EVENTS = 500;

  private final EventLog log;
  private final StreamWriter writer;

  /** Times of some positions by their numbers: a read needs a whole position. */
  private final ConcurrentNavigableMap<Long, Long> marks = new ConcurrentSkipListMap<>();

  private volatile long last;

  /** Index of the newest event whose append has begun: readers may have it before {@link #last}. */
  private volatile long begun;

  AgentLog(EventLog log, StreamWriter writer) {
    this.log = log;
    this.writer = writer;
  }

  /** The index of the newest event; 0 for none. */
  long last() {
    return last;
  }

  /** Returns true if no reader can have an event with this index yet. */
  boolean isAfterLast(long index) {
    return index > Math.max(last, begun);
  }

  /**
   * Appends events. Waits while the store is away, and so does the agent then.
   *
   * @param close whether no event may follow
   * @param givesUp asked between two attempts whether to end the wait
   * @return whether the events are in the log
   * @throws LogException.Fenced if this replica does not own the stream any more
   */
  boolean append(List<AgentEvent> events, boolean close, BooleanSupplier givesUp) {
    List<NewEvent> batch = new ArrayList<>(events.size());
    long index = last;
    for (AgentEvent event : events) {
      index++;
      byte[] message = EventMessages.write(event.at(writer.stream().name(), index));
      batch.add(new NewEvent(message, null, close && batch.size() == events.size() - 1));
    }
    begun = index;
    for (Backoff backoff = Backoff.STORE; ; backoff = backoff.next()) {
      try {
        moveTo(writer.append(batch));
        return true;
      } catch (LogException.StoreUnavailable | LogException.OutcomeUnknown away) {
        if (givesUp.getAsBoolean()) {
          return false;
        }
        LockSupport.parkNanos(backoff.delay().toNanos());
      }
    }
  }

  private void moveTo(Position position) {
    Map.Entry<Long, Long> mark = marks.lastEntry();
    if (mark == null || position.number() - mark.getKey() >= MARK_DISTANCE) {
      marks.put(position.number(), position.millis());
    }
    last = position.number();
  }

  /** Reads the events that another replica has appended. Waits while the store is away. */
  void scan(Consumer<AgentEvent> reader) {
    for (Backoff backoff = Backoff.STORE; ; backoff = backoff.next()) {
      try {
        Position cursor = log.beforeOldest(writer.stream()).orElse(Position.START);
        moveTo(cursor);
        while (log.read(writer.stream(), cursor, PAGE_EVENTS) instanceof ReadResult.Events page
            && !page.events().isEmpty()) {
          page.events().forEach(event -> reader.accept(EventMessages.read(event.payload())));
          cursor = page.events().getLast().position();
          moveTo(cursor);
        }
        return;
      } catch (LogException.StoreUnavailable away) {
        LockSupport.parkNanos(backoff.delay().toNanos());
      }
    }
  }

  /** Reads events as {@link #read(EventLog, StreamRef, Position, long, int)} does. */
  List<AgentEvent> read(long since, int limit) {
    Map.Entry<Long, Long> mark = marks.floorEntry(since);
    Position from = mark == null ? Position.START : new Position(mark.getValue(), mark.getKey());
    return read(log, writer.stream(), from, since, limit);
  }

  /**
   * Reads the events after an index.
   *
   * @param from a position of the stream that is not after the index
   * @return as many as one page of the log has, but at most {@code limit}; none at the end
   * @throws RefusedException if the next events were purged, or there is no such stream
   */
  static List<AgentEvent> read(
      EventLog log, StreamRef stream, Position from, long since, int limit) {
    Position cursor = from;
    while (true) {
      switch (log.read(stream, cursor, PAGE_EVENTS)) {
        case ReadResult.Events(List<LogEvent> events) -> {
          List<AgentEvent> found =
              events.stream()
                  .filter(event -> event.position().number() > since)
                  .filter(event -> event.payload().length > 0)
                  .limit(limit)
                  .map(event -> EventMessages.read(event.payload()))
                  .toList();
          if (!found.isEmpty() || events.isEmpty()) {
            return found;
          }
          cursor = events.getLast().position();
        }
        case ReadResult.Gap gap -> {
          Position next = gap.resumeAfter().orElse(cursor);
          if (next.number() > since) {
            throw new RefusedException(
                "Events %d to %d of session %s were purged. Continue with since_index %d."
                    .formatted(since + 1, next.number(), stream.name(), next.number()));
          }
          if (next.equals(cursor)) {
            return List.of();
          }
          cursor = next;
        }
        case ReadResult.EndOfStream _ -> {
          return List.of();
        }
        case ReadResult.NoSuchStream _ ->
            throw new RefusedException("There is no agent session " + stream.name() + ".");
      }
    }
  }
}
