package dev.holdfast.trace;

import dev.holdfast.protocol.Body;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.ObservedUpstream;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamMessage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An upstream with a span for each call: from the request to the end of its answer. The standalone
 * stream has none.
 */
public final class TracedUpstream extends ObservedUpstream {

  private final String name;
  private final Tracer tracer;

  /** Adds spans to an upstream with a configured name. */
  public TracedUpstream(Upstream upstream, String name, Tracer tracer) {
    super(upstream);
    this.name = name;
    this.tracer = tracer;
  }

  @Override
  protected Operation begin(Kind kind, @Nullable Body body) {
    return switch (kind) {
      case INITIALIZE, REQUEST, SEND, RESUME -> new TracedOperation(start(body));
      case REOPEN, LISTEN -> Operation.NONE;
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

  private record TracedOperation(Span span) implements Operation {

    @Override
    public <T> T run(Supplier<T> part) {
      try (Scope _ = span.makeCurrent()) {
        return part.get();
      } catch (RuntimeException failure) {
        SpanAttributes.fail(span, failure);
        throw failure;
      }
    }

    /** {@inheritDoc} None: the reader takes all on a thread that has the span. */
    @Override
    public List<UpstreamMessage> takeArrived(MessageSource answer) {
      return List.of();
    }

    @Override
    public void end() {
      span.end();
    }
  }
}
