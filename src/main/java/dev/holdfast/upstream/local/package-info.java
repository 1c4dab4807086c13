/**
 * The API for authors of tools. A {@link dev.holdfast.upstream.local.Tool}, {@link
 * dev.holdfast.upstream.local.Resource} or {@link dev.holdfast.upstream.local.Prompt} is a plain
 * Java object over records. The packages below run them as an MCP server inside this process.
 *
 * <p>API: programs of others use this package ({@code docs/tools.md}).
 */
@NullMarked
package dev.holdfast.upstream.local;

import org.jspecify.annotations.NullMarked;
