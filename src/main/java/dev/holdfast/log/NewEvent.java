package dev.holdfast.log;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An event to append.
 *
 * @param payload the message; not copied, so it must not be changed afterwards
 * @param upstreamId the upstream's own id of this event, from which the upstream stream can be
 *     resumed; null when it has none
 * @param last whether this is the last event of its stream
 */
public record NewEvent(byte[] payload, @Nullable String upstreamId, boolean last) {

  /**
   * Checks the events of an append.
   *
   * @throws IllegalArgumentException when the list is empty, or when an event follows the last
   *     event of the stream
   */
  public static void requireWellFormed(List<NewEvent> events) {
    if (events.isEmpty()) {
      throw new IllegalArgumentException("an append must have at least one event");
    }
    for (NewEvent event : events.subList(0, events.size() - 1)) {
      if (event.last()) {
        throw new IllegalArgumentException("no event may follow the last event of a stream");
      }
    }
  }

  /** The bytes of the payloads of events. */
  public static long bytes(List<NewEvent> events) {
    long bytes = 0;
    for (NewEvent event : events) {
      bytes += event.payload().length;
    }
    return bytes;
  }
}
