/**
 * SSE streams that outlive their connections. {@link
 * dev.holdfast.upstream.http.stream.SseMessageSource} is one stream; {@link
 * dev.holdfast.upstream.http.stream.Reconnector} opens its next connection, and {@link
 * dev.holdfast.upstream.http.stream.ReconnectPolicy} says when.
 */
@NullMarked
package dev.holdfast.upstream.http.stream;

import org.jspecify.annotations.NullMarked;
