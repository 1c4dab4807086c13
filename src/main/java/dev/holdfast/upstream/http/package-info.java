/**
 * The adapter for servers behind Streamable HTTP: requests, streams that resume by themselves, and
 * sessions.
 *
 * <p>Parsing is done by {@link dev.holdfast.sse.SseParser}, reconnecting by {@link
 * dev.holdfast.upstream.http.Reconnector}, and when to do so is said by {@link
 * dev.holdfast.upstream.http.RetryPolicy}. Vert.x and its futures do not leave this package.
 */
@NullMarked
package dev.holdfast.upstream.http;

import org.jspecify.annotations.NullMarked;
