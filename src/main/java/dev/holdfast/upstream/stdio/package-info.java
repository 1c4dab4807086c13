/**
 * An MCP server that is a program on this machine: {@link
 * dev.holdfast.upstream.stdio.StdioUpstream} starts one process of it per session and speaks over
 * its stdin and stdout, a message per line.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio">MCP
 *     2025-11-25, Transports, stdio</a>
 */
@NullMarked
package dev.holdfast.upstream.stdio;

import org.jspecify.annotations.NullMarked;
