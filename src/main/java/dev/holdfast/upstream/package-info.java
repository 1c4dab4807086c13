/**
 * The MCP server behind the gateway.
 *
 * <p>{@link dev.holdfast.upstream.Upstream} is the port; how a kind of server is spoken to is the
 * affair of an adapter in a package below.
 */
@NullMarked
package dev.holdfast.upstream;

import org.jspecify.annotations.NullMarked;
