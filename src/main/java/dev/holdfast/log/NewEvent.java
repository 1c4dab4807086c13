package dev.holdfast.log;

import org.jspecify.annotations.Nullable;

/**
 * An event on its way into the log.
 *
 * @param payload the message; not copied, so it must not be changed afterwards
 * @param upstreamId the upstream's own id of this event, from which the upstream stream can be
 *     resumed; null when it gave none
 * @param last whether this is the last event of its stream
 */
public record NewEvent(byte[] payload, @Nullable String upstreamId, boolean last) {}
