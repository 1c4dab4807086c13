package dev.holdfast.trace;

import dev.holdfast.lock.LruMap;
import dev.holdfast.log.StreamRef;
import io.opentelemetry.api.trace.SpanContext;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Keeps the spans of the newest streams of a single replica. */
public final class MemoryTraceStore implements TraceStore {

  static final int STREAMS = 10_000;

  private final Map<StreamRef, SpanContext> spans = LruMap.create(STREAMS);

  @Override
  public void put(StreamRef stream, SpanContext span) {
    spans.put(stream, span);
  }

  @Override
  public CompletionStage<SpanContext> find(StreamRef stream) {
    return CompletableFuture.completedFuture(
        Objects.requireNonNullElse(spans.get(stream), SpanContext.getInvalid()));
  }
}
