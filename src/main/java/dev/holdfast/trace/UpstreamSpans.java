package dev.holdfast.trace;

import dev.holdfast.protocol.Body;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamObserver;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import org.jspecify.annotations.Nullable;

/**
 * A span for each call of an upstream: from the request to the end of its answer. The standalone
 * stream has none.
 */
public record UpstreamSpans(String name, Tracer tracer) implements UpstreamObserver {

  @Override
  public Operation begin(Kind kind, @Nullable UpstreamLink link, @Nullable Body body) {
    return switch (kind) {
      case INITIALIZE, REQUEST, SEND, RESUME -> new TracedOperation(start(body));
      case REOPEN, LISTEN, END -> Operation.NONE;
    };
  }

  private Span start(@Nullable Body body) {
    SpanBuilder span =
        tracer
            .spanBuilder(body == null ? "resume" : SpanAttributes.name(body))
            .setSpanKind(SpanKind.CLIENT)
            .setAttribute(SpanAttributes.UPSTREAM, name);
    if (body != null) {
      SpanAttributes.describe(span, body);
    }
    return span.startSpan();
  }

  private static final class TracedOperation implements Operation {

    private final Span span;

    /** Of the part that runs. Owned by its thread. */
    private Scope scope = Scope.noop();

    TracedOperation(Span span) {
      this.span = span;
    }

    @Override
    @SuppressWarnings("MustBeClosedChecker") // leave() closes it
    public void enter() {
      scope = span.makeCurrent();
    }

    @Override
    public void leave() {
      scope.close();
    }

    @Override
    public void failed(RuntimeException failure) {
      SpanAttributes.fail(span, failure);
    }

    @Override
    public void end() {
      span.end();
    }
  }
}
