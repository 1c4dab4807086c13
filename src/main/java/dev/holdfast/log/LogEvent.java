package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/**
 * An event as the log holds it.
 *
 * @param position where it stands in its stream
 * @param payload the message; shared, so it must not be changed
 * @param upstreamId the upstream's own id of this event, or null when it gave none
 * @param last whether this is the last event of its stream
 */
public record LogEvent(
    Position position, byte[] payload, @Nullable String upstreamId, boolean last) {}
