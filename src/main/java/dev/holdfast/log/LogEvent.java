package dev.holdfast.log;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An event of a stream, as a reader gets it.
 *
 * @param position its position in the stream
 * @param payload the message; shared, so it must not be changed
 * @param upstreamId the upstream's own id of this event; null when it has none
 * @param last whether this is the last event of its stream
 * @param logged whether the log holds it; false after {@link StreamWriter#deliverUnlogged}
 */
public record LogEvent(
    Position position, byte[] payload, @Nullable String upstreamId, boolean last, boolean logged) {

  /**
   * The events of a batch. They share the time of the last one and have the numbers before it.
   *
   * @param logged whether the log holds them
   */
  public static List<LogEvent> of(List<NewEvent> batch, Position last, boolean logged) {
    List<LogEvent> events = new ArrayList<>(batch.size());
    long number = last.number() - batch.size();
    for (NewEvent event : batch) {
      number++;
      Position position = new Position(last.millis(), number);
      events.add(new LogEvent(position, event.payload(), event.upstreamId(), event.last(), logged));
    }
    return events;
  }

  /** An event that the log holds. */
  public LogEvent(Position position, byte[] payload, @Nullable String upstreamId, boolean last) {
    this(position, payload, upstreamId, last, true);
  }
}
