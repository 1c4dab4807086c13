/**
 * Port to the MCP server behind the gateway: {@link dev.holdfast.upstream.Upstream}. Each package
 * below is an adapter for one kind of server.
 */
@NullMarked
package dev.holdfast.upstream;

import org.jspecify.annotations.NullMarked;
