/**
 * Adapter for servers behind HTTP. {@link dev.holdfast.upstream.http.HttpUpstream} speaks
 * Streamable HTTP. {@link dev.holdfast.upstream.http.DetectingUpstream} detects whether a server
 * speaks Streamable HTTP or the older HTTP+SSE.
 *
 * <p>From bottom to top: {@link dev.holdfast.upstream.http.HttpExchange} sends a request and reads
 * its answer, {@link dev.holdfast.upstream.http.SseMessageSource} reads an SSE stream over several
 * connections, and {@link dev.holdfast.upstream.http.LegacyUpstream} speaks HTTP+SSE.
 */
@NullMarked
package dev.holdfast.upstream.http;

import org.jspecify.annotations.NullMarked;
