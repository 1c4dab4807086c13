/**
 * A bridge from stdin and stdout to an upstream, for a client that speaks only MCP over stdio. It
 * opens a new session when the server has lost the old one.
 */
@NullMarked
package dev.holdfast.bridge;

import org.jspecify.annotations.NullMarked;
