/** HTTP+SSE, the transport of MCP 2024-11-05: one connection carries all messages of a session. */
@NullMarked
package dev.holdfast.upstream.http.legacy;

import org.jspecify.annotations.NullMarked;
