package dev.holdfast.upstream;

import org.jspecify.annotations.Nullable;

/**
 * A message from a server.
 *
 * @param payload JSON on one line. Not copied, so it must not be changed.
 * @param eventId the server's id of the event, after which its stream can be resumed; null for none
 */
public record UpstreamMessage(byte[] payload, @Nullable String eventId) {}
