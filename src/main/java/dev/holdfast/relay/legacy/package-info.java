/** Serves clients of HTTP with SSE (2024-11-05), which have one stream for everything. */
@NullMarked
package dev.holdfast.relay.legacy;

import org.jspecify.annotations.NullMarked;
