/**
 * An MCP server on two streams of bytes, in front of an upstream: for a client that speaks only
 * over stdio. Cuts on the way to the upstream are mended here, as far as it can be resumed.
 */
@NullMarked
package dev.holdfast.bridge;

import org.jspecify.annotations.NullMarked;
