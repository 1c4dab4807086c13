package dev.holdfast.trace;

import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.session.Session;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes a span of each operation of the relay. Thread-safe. */
public final class SpanListener implements TraceListener {

  private final Tracer tracer;
  private final TraceStore store;

  /** Creates a listener. */
  public SpanListener(Tracer tracer, TraceStore store) {
    this.tracer = tracer;
    this.store = store;
  }

  /** Returns the headers that continue the trace of the operation on this thread. */
  public static Map<String, String> headers() {
    return TraceContext.headers();
  }

  @Override
  public Request request(
      String upstream, String method, Function<String, @Nullable String> header) {
    return ClientRequest.begin(tracer, upstream, method, header);
  }

  @Override
  public void received(Body body) {
    ClientRequest request = ClientRequest.current();
    if (request != null) {
      request.start(body);
    }
  }

  @Override
  public void found(Session session) {
    ClientRequest request = ClientRequest.current();
    if (request != null) {
      request.found(session);
    }
  }

  @Override
  public void opening(StreamRef stream) {
    SpanContext span = Span.current().getSpanContext();
    if (span.isSampled()) {
      store.put(stream, span);
    }
  }

  /**
   * {@inheritDoc} A stream may be opened on another replica than the one that writes it. The
   * standalone stream outlives the request that opened it, so its appends begin traces of their
   * own.
   */
  @Override
  public Runnable writing(StreamRef stream, Runnable work) {
    if (stream.name().equals(StreamNames.STANDALONE)) {
      return work;
    }
    Context current = Context.current();
    return TraceContext.spanOf(current).isValid()
        ? current.wrap(work)
        : () -> opened(stream).wrap(work).run();
  }

  /** The context of the request that opened a stream, on any replica. Waits for the store. */
  private Context opened(StreamRef stream) {
    SpanContext span = store.find(stream).toCompletableFuture().join();
    return Context.root().with(Span.wrap(span));
  }

  @Override
  public <X extends Exception> void append(StreamRef stream, int events, Append<X> work) throws X {
    during(span("append", stream).setAttribute(SpanAttributes.EVENTS, events).startSpan(), work);
  }

  private static <X extends Exception> void during(Span span, Append<X> work) throws X {
    try (Scope _ = span.makeCurrent()) {
      work.run();
    } catch (Throwable failure) {
      SpanAttributes.fail(span, failure);
      throw failure;
    } finally {
      span.end();
    }
  }

  /**
   * {@inheritDoc} The span of a resumed stream has a link to the request that opened the stream.
   */
  @Override
  public Reading reading(StreamRef stream, Position after, boolean resumed) {
    Span span =
        span(resumed ? "replay" : "deliver", stream)
            .setAttribute(SpanAttributes.POSITION, after.toString())
            .startSpan();
    CompletionStage<SpanContext> opened =
        resumed && span.isRecording()
            ? store.find(stream)
            : CompletableFuture.completedFuture(SpanContext.getInvalid());
    return (replayed, last) -> {
      span.setAttribute(SpanAttributes.EVENTS, replayed);
      span.setAttribute(SpanAttributes.LAST_POSITION, last.toString());
      Instant end = Instant.now();
      opened.thenAccept(request -> {
        span.addLink(request); // Does nothing without a valid one.
        span.end(end);
      });
    };
  }

  /** {@inheritDoc} The span belongs to the trace of the request that opened the stream. */
  @Override
  public void takeOver(StreamRef stream, Runnable work) {
    during(span("take over", stream).setParent(opened(stream)).startSpan(), work::run);
  }

  private SpanBuilder span(String name, StreamRef stream) {
    // As logs do, with the start of the session's id only.
    return tracer.spanBuilder(name).setAttribute(SpanAttributes.STREAM, stream.toString());
  }
}
