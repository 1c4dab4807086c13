package dev.holdfast.log.memory;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import org.jspecify.annotations.Nullable;

/**
 * An event in memory, in one object: there are many.
 *
 * @param order counts the events of a session
 */
record StoredEvent(
    long millis,
    long number,
    long order,
    byte[] payload,
    @Nullable String upstreamId,
    boolean last) {

  /** Estimated bytes of the objects around a payload. */
  static final int OVERHEAD = 96;

  long bytes() {
    return (long) OVERHEAD + payload.length + (upstreamId == null ? 0 : upstreamId.length());
  }

  Position position() {
    return new Position(millis, number);
  }

  LogEvent event() {
    return new LogEvent(position(), payload, upstreamId, last);
  }
}
