package dev.holdfast.trace;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The spans that have ended, in order. */
final class RecordedSpans implements SpanExporter {

  final Tracer tracer;
  private final List<SpanData> spans = new CopyOnWriteArrayList<>();

  RecordedSpans() {
    tracer =
        SdkTracerProvider.builder()
            .setSampler(Sampler.parentBased(Sampler.alwaysOn()))
            .addSpanProcessor(SimpleSpanProcessor.create(this))
            .build()
            .get("test");
  }

  List<SpanData> all() {
    return List.copyOf(spans);
  }

  SpanData named(String name) {
    return spans.stream().filter(each -> each.getName().equals(name)).findFirst().orElseThrow();
  }

  @Override
  public CompletableResultCode export(Collection<SpanData> ended) {
    spans.addAll(ended);
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode flush() {
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode shutdown() {
    return CompletableResultCode.ofSuccess();
  }
}
