/**
 * Adapter for servers behind HTTP. {@link dev.holdfast.upstream.http.HttpUpstream} speaks
 * Streamable HTTP. {@link dev.holdfast.upstream.http.DetectingUpstream} detects whether a server
 * speaks Streamable HTTP or the older HTTP+SSE.
 *
 * <p>The packages below, from bottom to top: {@code client} sends requests and reads answers,
 * {@code stream} reads an SSE stream over several connections, {@code legacy} speaks HTTP+SSE.
 */
@NullMarked
package dev.holdfast.upstream.http;

import org.jspecify.annotations.NullMarked;
