/**
 * Port to an MCP server: {@link dev.holdfast.upstream.Upstream}. {@code UpstreamFactory} chooses
 * its adapter: {@code http}, {@code stdio} or {@code local} below, or {@code agent}.
 */
@NullMarked
package dev.holdfast.upstream;

import org.jspecify.annotations.NullMarked;
