package dev.holdfast.trace;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.session.Session;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.time.Instant;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The span of a client's HTTP request, on the thread that runs the request. The span of a POST
 * begins when the body is known, since its message may name the trace (SEP-414). A header has
 * precedence, because it belongs to the last hop.
 */
final class ClientRequest implements TraceListener.Request {

  private static final ThreadLocal<@Nullable ClientRequest> CURRENT = new ThreadLocal<>();
  private static final int SERVER_ERRORS = 500;

  private final Tracer tracer;
  private final String upstream;
  private final String method;
  private final Context sent;
  private final Instant begun = Instant.now();

  private Span span = Span.getInvalid();
  private @Nullable Scope scope;

  private ClientRequest(Tracer tracer, String upstream, String method, Context sent) {
    this.tracer = tracer;
    this.upstream = upstream;
    this.method = method;
    this.sent = sent;
  }

  /** Begins a request. It is the current one of this thread until it is closed. */
  static ClientRequest begin(
      Tracer tracer, String upstream, String method, Function<String, @Nullable String> header) {
    var request = new ClientRequest(tracer, upstream, method, TraceContext.read(header));
    CURRENT.set(request);
    if (!method.equals("POST")) {
      request.start(null);
    }
    return request;
  }

  static @Nullable ClientRequest current() {
    return CURRENT.get();
  }

  /** Begins the span, if it has not begun. {@link #close} closes its scope. */
  @SuppressWarnings("MustBeClosedChecker")
  void start(@Nullable Body body) {
    if (scope != null) {
      return;
    }
    Context named = body == null ? Context.root() : namedBy(body.messages().getFirst());
    SpanContext inMessage = TraceContext.spanOf(named);
    SpanContext inHeader = TraceContext.spanOf(sent);
    Context parent = inHeader.isValid() ? sent : named;
    SpanBuilder builder =
        tracer
            .spanBuilder(body == null ? method : SpanAttributes.name(body))
            .setSpanKind(SpanKind.SERVER)
            .setParent(parent)
            .setStartTimestamp(begun)
            .setAttribute(SpanAttributes.UPSTREAM, upstream)
            .setAttribute(SpanAttributes.HTTP_METHOD, method);
    if (body != null) {
      SpanAttributes.describe(builder, body);
    }
    if (inHeader.isValid() && !inHeader.getTraceId().equals(inMessage.getTraceId())) {
      builder.addLink(inMessage); // Does nothing without a valid one.
    }
    span = builder.startSpan();
    scope = parent.with(span).makeCurrent();
  }

  private static Context namedBy(Message message) {
    Map<String, String> fields = message.meta(TraceContext.PARENT, TraceContext.STATE);
    return TraceContext.read(fields::get);
  }

  void found(Session session) {
    // Shortened, as in logs: the full id is a secret of the client.
    span.setAttribute(SpanAttributes.SESSION, session.id().toString());
    span.setAttribute(SpanAttributes.CLIENT, SpanAttributes.cut(session.client()));
    span.setAttribute(SpanAttributes.VERSION, session.version().wire());
  }

  @Override
  public void answered(int status) {
    start(null);
    span.setAttribute(SpanAttributes.STATUS, status);
    if (status >= SERVER_ERRORS) {
      span.setStatus(StatusCode.ERROR);
    }
  }

  /** Ends the span. */
  @Override
  public void close() {
    start(null);
    if (scope != null) {
      scope.close();
    }
    span.end();
    CURRENT.remove();
  }
}
