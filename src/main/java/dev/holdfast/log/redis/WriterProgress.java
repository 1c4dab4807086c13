package dev.holdfast.log.redis;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a stream stands for its writer.
 *
 * @param last the position of the last event that was given out, through the store or past it
 * @param stored the number of the last event that the store is known to have, or to know as passed;
 *     those up to {@link #last} were passed since
 * @param passedId the upstream's own id of the newest passed event that has one, while the store
 *     does not know it; null for none
 */
record WriterProgress(Position last, long stored, @Nullable String passedId) {

  /** Where all is stored. */
  static WriterProgress at(Position last) {
    return new WriterProgress(last, last.number(), null);
  }

  /**
   * Gives events the next positions, with no later time than that of the last event: the clock of
   * the store cannot be asked, and must not be overtaken.
   */
  List<LogEvent> following(List<NewEvent> events) {
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

  /** After events that were passed. */
  WriterProgress passed(List<LogEvent> events) {
    String newestId = passedId;
    for (LogEvent event : events) {
      newestId = event.upstreamId() == null ? newestId : event.upstreamId();
    }
    return new WriterProgress(events.getLast().position(), stored, newestId);
  }

  /** After the store was told of an earlier standing; more may have been passed since. */
  WriterProgress told(WriterProgress earlier) {
    String untold = earlier.last().equals(last) ? null : passedId;
    return new WriterProgress(last, earlier.last().number(), untold);
  }
}
