package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The end of a stream as its writer knows it, and what the store does not know of it yet.
 *
 * @param last the position of the last event, stored or delivered unlogged
 * @param stored the number of the last event that the store is known to have or to skip; later
 *     events up to {@code last} were delivered unlogged
 * @param upstreamId the newest id of the upstream among those; null for none
 * @param debt what the store must be told besides the numbers that it skips
 */
record WriterProgress(Position last, long stored, @Nullable String upstreamId, Debt debt) {

  /** What the writer owes to the store. */
  enum Debt {
    NONE,

    /** The store has shown an older position than it was told, so it must be told again. */
    POSITION,

    /** The last event of the stream was delivered unlogged, so the stream needs another end. */
    END
  }

  /** All events are stored and nothing is owed. */
  static WriterProgress at(Position last) {
    return new WriterProgress(last, last.number(), null, Debt.NONE);
  }

  /** Whether the store knows of all events up to a number. */
  boolean isReported(long number) {
    return debt == Debt.NONE && stored >= number;
  }

  /** The store may have lost the position of the last event. */
  WriterProgress inDoubt() {
    return new WriterProgress(last, stored, upstreamId, Debt.POSITION);
  }

  /**
   * Gives events the next positions. They get the time of the last event: the clock of the store
   * cannot be asked, and no event may be ahead of it.
   */
  List<LogEvent> nextPositions(List<NewEvent> events) {
    List<LogEvent> positioned = new ArrayList<>(events.size());
    long number = last.number();
    for (NewEvent event : events) {
      number++;
      Position position = new Position(last.millis(), number);
      positioned.add(
          new LogEvent(position, event.payload(), event.upstreamId(), event.last(), false));
    }
    return positioned;
  }

  /** After the next events were delivered unlogged. */
  WriterProgress afterUnlogged(List<LogEvent> events) {
    String newestId = upstreamId;
    for (LogEvent event : events) {
      newestId = event.upstreamId() == null ? newestId : event.upstreamId();
    }
    LogEvent newest = events.getLast();
    return new WriterProgress(newest.position(), stored, newestId, newest.last() ? Debt.END : debt);
  }

  /**
   * After the store was told of an earlier progress. More events may have been delivered unlogged
   * meanwhile.
   *
   * @param written where the stream ends in the store
   */
  WriterProgress afterReport(WriterProgress told, Position written) {
    if (told.debt == Debt.END) {
      return at(written);
    }
    String untold = told.last.equals(last) ? null : upstreamId;
    return new WriterProgress(
        last, told.last.number(), untold, debt == Debt.END ? Debt.END : Debt.NONE);
  }
}
