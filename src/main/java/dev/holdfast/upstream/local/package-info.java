/**
 * An MCP server inside this process: an {@link dev.holdfast.upstream.Upstream} whose tools are
 * plain Java.
 *
 * <p>Whoever wants to add a tool implements {@link dev.holdfast.upstream.local.Tool}, over records.
 */
@NullMarked
package dev.holdfast.upstream.local;

import org.jspecify.annotations.NullMarked;
