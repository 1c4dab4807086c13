/**
 * Traces with OpenTelemetry. {@link dev.holdfast.trace.SpanListener} and {@link
 * dev.holdfast.trace.UpstreamSpans} turn operations into spans, and {@link
 * dev.holdfast.trace.TraceExport} sends them to a receiver. Nothing of this exists while traces are
 * off.
 */
@NullMarked
package dev.holdfast.trace;

import org.jspecify.annotations.NullMarked;
