/**
 * HTTP client for one MCP server: settings, connections, and requests with the headers of MCP.
 * Vert.x and its futures do not leave this package.
 */
@NullMarked
package dev.holdfast.upstream.http.client;

import org.jspecify.annotations.NullMarked;
