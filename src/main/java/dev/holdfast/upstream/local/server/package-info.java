/**
 * The MCP server inside this process. {@link dev.holdfast.upstream.local.server.LocalUpstream} is
 * the server, and {@link dev.holdfast.upstream.local.server.ToolCalls} runs the calls of its tools.
 */
@NullMarked
package dev.holdfast.upstream.local.server;

import org.jspecify.annotations.NullMarked;
