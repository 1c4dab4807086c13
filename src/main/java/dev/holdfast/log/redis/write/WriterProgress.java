package dev.holdfast.log.redis.write;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The end of a stream as its writer knows it, and the part that the store has not recorded.
 *
 * @param last the position of the last event, stored or delivered unlogged
 * @param stored the number of the last event that the store has or skips for certain; later events
 *     up to {@code last} were delivered unlogged
 * @param upstreamId the newest upstream id of those later events; null for none
 * @param debt what the writer must still report besides the skipped numbers
 */
record WriterProgress(Position last, long stored, @Nullable String upstreamId, Debt debt) {

  /** Changes that the writer must still report to the store. */
  enum Debt {
    NONE,

    /** The store has shown an older position than the reported one, so the report is repeated. */
    POSITION,

    /** The last event of the stream was delivered unlogged, so the store needs an end. */
    END
  }

  /** All events are stored, and no report is due. */
  static WriterProgress at(Position last) {
    return new WriterProgress(last, last.number(), null, Debt.NONE);
  }

  /** Returns true if the store has recorded all events up to a number. */
  boolean isReported(long number) {
    return debt == Debt.NONE && stored >= number;
  }

  /** The store may have lost the position of the last event. */
  WriterProgress inDoubt() {
    return new WriterProgress(last, stored, upstreamId, Debt.POSITION);
  }

  /**
   * Gives events the next positions. They get the time of the last event, since the clock of the
   * store is not available and no event may be ahead of it.
   */
  List<LogEvent> nextPositions(List<NewEvent> events) {
    return LogEvent.of(events, new Position(last.millis(), last.number() + events.size()), false);
  }

  /** The progress after the next events were delivered unlogged. */
  WriterProgress afterUnlogged(List<LogEvent> events) {
    String newestId = upstreamId;
    for (LogEvent event : events) {
      newestId = event.upstreamId() == null ? newestId : event.upstreamId();
    }
    LogEvent newest = events.getLast();
    return new WriterProgress(newest.position(), stored, newestId, newest.last() ? Debt.END : debt);
  }

  /**
   * The progress after an earlier one was reported. More events may have been delivered unlogged
   * meanwhile.
   *
   * @param written where the stream ends in the store
   */
  WriterProgress afterReport(WriterProgress reported, Position written) {
    if (reported.debt == Debt.END) {
      return at(written);
    }
    String unreportedId = reported.last.equals(last) ? null : upstreamId;
    return new WriterProgress(
        last, reported.last.number(), unreportedId, debt == Debt.END ? Debt.END : Debt.NONE);
  }
}
