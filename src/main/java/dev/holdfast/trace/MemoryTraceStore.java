package dev.holdfast.trace;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.StreamRef;
import io.opentelemetry.api.trace.SpanContext;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Keeps the spans of the newest streams of a single replica. */
public final class MemoryTraceStore implements TraceStore {

  static final int STREAMS = 10_000;

  private final AutoLock lock = new AutoLock();

  /** Guarded by the lock. */
  private final Map<StreamRef, SpanContext> spans =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<StreamRef, SpanContext> eldest) {
          return size() > STREAMS;
        }
      };

  @Override
  public void put(StreamRef stream, SpanContext span) {
    try (var _ = lock.hold()) {
      spans.put(stream, span);
    }
  }

  @Override
  public CompletionStage<SpanContext> find(StreamRef stream) {
    try (var _ = lock.hold()) {
      return CompletableFuture.completedFuture(
          spans.getOrDefault(stream, SpanContext.getInvalid()));
    }
  }
}
