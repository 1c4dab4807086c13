package dev.holdfast.upstream.local;

import org.jspecify.annotations.Nullable;

/**
 * A file or folder that a client works on.
 *
 * @param uri begins with {@code file://}, so far
 * @param name for people; null if it has none
 */
public record Root(String uri, @Nullable String name) {}
