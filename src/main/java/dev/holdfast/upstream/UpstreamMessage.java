package dev.holdfast.upstream;

import org.jspecify.annotations.Nullable;

/**
 * A message from a server.
 *
 * @param payload JSON on one line; not copied, so it must not be changed
 * @param eventId the server's own id of the event that carried it, from which its stream can be
 *     resumed; null when it gave none
 */
public record UpstreamMessage(byte[] payload, @Nullable String eventId) {}
