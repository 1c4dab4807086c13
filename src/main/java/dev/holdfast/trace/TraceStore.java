package dev.holdfast.trace;

import dev.holdfast.log.StreamRef;
import io.opentelemetry.api.trace.SpanContext;
import java.util.concurrent.CompletionStage;

/**
 * Keeps, for each stream, the span of the request that opened it, for operations on the stream that
 * come later or on other replicas. An entry may get lost; a trace then has a link less.
 */
public interface TraceStore {

  /** Keeps the span of a stream. Does not wait for the store. */
  void put(StreamRef stream, SpanContext span);

  /**
   * Finds the span of a stream.
   *
   * @return completes with an invalid span when there is none; does not fail. Completes on a thread
   *     that must not be blocked
   */
  CompletionStage<SpanContext> find(StreamRef stream);
}
