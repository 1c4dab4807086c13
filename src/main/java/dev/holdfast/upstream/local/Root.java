package dev.holdfast.upstream.local;

import org.jspecify.annotations.Nullable;

/**
 * A file or folder that a client works on.
 *
 * @param uri so far always a {@code file://} URI
 * @param name for people; null for none
 */
public record Root(String uri, @Nullable String name) {}
