package dev.holdfast.trace;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Opener;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.ForwardingUpstream;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An upstream with a span for each call: from the request to the end of its answer. The standalone
 * stream has none.
 */
public final class TracedUpstream extends ForwardingUpstream {

  private final String name;
  private final Tracer tracer;

  /** Adds spans to an upstream with a configured name. */
  public TracedUpstream(Upstream upstream, String name, TraceExport export) {
    this(upstream, name, export.tracer());
  }

  TracedUpstream(Upstream upstream, String name, Tracer tracer) {
    super(upstream);
    this.name = name;
    this.tracer = tracer;
  }

  private Span start(Body body) {
    SpanBuilder span = builder(SpanAttributes.name(body));
    SpanAttributes.describe(span, body);
    return span.startSpan();
  }

  private SpanBuilder builder(String operation) {
    return tracer
        .spanBuilder(operation)
        .setSpanKind(SpanKind.CLIENT)
        .setAttribute(SpanAttributes.UPSTREAM, name);
  }

  private static <T> T during(Span span, Supplier<T> work) {
    try (Scope _ = span.makeCurrent()) {
      return work.get();
    } catch (RuntimeException failure) {
      SpanAttributes.fail(span, failure);
      span.end();
      throw failure;
    }
  }

  @Override
  public Handshake initialize(Message.Request initialize, Opener opener) {
    Span span = start(new Body.Single(initialize));
    Handshake handshake = during(span, () -> upstream.initialize(initialize, opener));
    span.end();
    return handshake;
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new Session(upstream.attach(link));
  }

  private final class Session implements UpstreamSession {

    private final UpstreamSession session;

    Session(UpstreamSession session) {
      this.session = session;
    }

    @Override
    public Answer request(Body requests) {
      Span span = start(requests);
      return switch (during(span, () -> session.request(requests))) {
        case Answer.Json json -> {
          span.end();
          yield json;
        }
        case Answer.Stream(MessageSource source) -> new Answer.Stream(new Source(source, span));
      };
    }

    @Override
    public void send(Body messages) {
      Span span = start(messages);
      during(
          span,
          () -> {
            session.send(messages);
            span.end();
            return span;
          });
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      return session.listen(after);
    }

    @Override
    public MessageSource resume(String eventId) {
      Span span = builder("resume").startSpan();
      return new Source(during(span, () -> session.resume(eventId)), span);
    }

    @Override
    public void end() {
      session.end();
    }
  }

  /** The answer to a call, whose span ends with it. */
  private static final class Source extends ForwardingSource {

    private final Span span;

    Source(MessageSource source, Span span) {
      super(source);
      this.span = span;
    }

    @Override
    public List<UpstreamMessage> take() {
      return during(span, source::take);
    }

    @Override
    public void close() {
      super.close();
      span.end();
    }
  }
}
