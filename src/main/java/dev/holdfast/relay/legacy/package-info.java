/** Clients of HTTP with SSE (2024-11-05), which follow one stream per session. */
@NullMarked
package dev.holdfast.relay.legacy;

import org.jspecify.annotations.NullMarked;
