package dev.holdfast.trace;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes trace contexts (W3C Trace Context). Peers choose what is read here: an invalid
 * or oversized {@code traceparent} counts as none, and such a {@code tracestate} is dropped.
 */
final class TraceContext {

  static final String PARENT = "traceparent";
  static final String STATE = "tracestate";

  /** Enough for later versions, which may append to the 55 characters of version 00. */
  private static final int MOST_PARENT = 128;

  /** The length that everybody has to pass on (W3C Trace Context, section 3.3.1.5). */
  private static final int MOST_STATE = 512;

  private static final W3CTraceContextPropagator W3C = W3CTraceContextPropagator.getInstance();

  private static final TextMapGetter<Function<String, @Nullable String>> GETTER =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Function<String, @Nullable String> fields) {
          return List.of(PARENT, STATE);
        }

        @Override
        public @Nullable String get(
            @Nullable Function<String, @Nullable String> fields, String name) {
          return fields == null ? null : fields.apply(name);
        }
      };

  private TraceContext() {}

  /**
   * Reads the context of a request.
   *
   * @param field returns a field by its name; null when there is none
   * @return without a valid span when the request has no context
   */
  static Context read(Function<String, @Nullable String> field) {
    return W3C.extract(
        Context.root(),
        name -> {
          String value = field.apply(name);
          int most = name.equals(PARENT) ? MOST_PARENT : MOST_STATE;
          return value == null || value.length() > most ? null : value;
        },
        GETTER);
  }

  /** Returns the span that a context belongs to; an invalid one for none. */
  static SpanContext spanOf(Context context) {
    return Span.fromContext(context).getSpanContext();
  }

  static Map<String, String> headers() {
    Map<String, String> headers = new HashMap<>();
    W3C.inject(
        Context.current(),
        headers,
        (fields, name, value) -> {
          if (fields != null) {
            fields.put(name, value);
          }
        });
    return headers;
  }

  /** Formats a span as {@code traceparent}, with 55 characters. */
  static String format(SpanContext span) {
    return "00-" + span.getTraceId() + "-" + span.getSpanId() + "-" + span.getTraceFlags().asHex();
  }

  /** Parses what {@link #format} returned; an invalid span for other text. */
  static SpanContext parse(String text) {
    return spanOf(read(name -> name.equals(PARENT) ? text : null));
  }
}
