/**
 * The adapter for servers behind HTTP. {@link dev.holdfast.upstream.http.HttpUpstream} speaks
 * Streamable HTTP: requests, streams that resume by themselves, and sessions; {@link
 * dev.holdfast.upstream.http.LegacyUpstream} HTTP+SSE, which came before it; {@link
 * dev.holdfast.upstream.http.DetectingUpstream} finds out which of the two a server wants.
 *
 * <p>Parsing is done by {@link dev.holdfast.sse.SseParser}, reconnecting by {@link
 * dev.holdfast.upstream.http.Reconnector}, and when to do so is said by {@link
 * dev.holdfast.upstream.http.RetryPolicy}. Vert.x and its futures do not leave this package.
 */
@NullMarked
package dev.holdfast.upstream.http;

import org.jspecify.annotations.NullMarked;
