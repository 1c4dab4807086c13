package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/**
 * An event as the log holds it, or as it was passed by the log.
 *
 * @param position where it stands in its stream
 * @param payload the message; shared, so it must not be changed
 * @param upstreamId the upstream's own id of this event, or null when it gave none
 * @param last whether this is the last event of its stream
 * @param logged whether the log holds it; one that was {@link StreamWriter#deliverUnlogged passed}
 *     has its place on the stream, but nobody will find it there
 */
public record LogEvent(
    Position position, byte[] payload, @Nullable String upstreamId, boolean last, boolean logged) {

  /** An event that the log holds. */
  public LogEvent(Position position, byte[] payload, @Nullable String upstreamId, boolean last) {
    this(position, payload, upstreamId, last, true);
  }
}
