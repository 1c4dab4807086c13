package dev.holdfast.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanContext;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceContextTest {

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String SPAN = "00f067aa0ba902b7";
  private static final String VALID = "00-" + TRACE + "-" + SPAN + "-01";

  private static SpanContext read(Map<String, String> fields) {
    return TraceContext.spanOf(TraceContext.read(fields::get));
  }

  @Test
  void shouldReadAContext() {
    SpanContext span = read(Map.of("traceparent", VALID, "tracestate", "a=1,b=2"));

    assertThat(span.getTraceId()).isEqualTo(TRACE);
    assertThat(span.getSpanId()).isEqualTo(SPAN);
    assertThat(span.isSampled()).isTrue();
    assertThat(span.getTraceState().asMap()).isEqualTo(Map.of("a", "1", "b", "2"));
  }

  @Test
  void shouldParseWhatItFormats() {
    assertThat(TraceContext.format(TraceContext.parse(VALID))).isEqualTo(VALID).hasSize(55);
  }

  /** Peers write these. Redis may have been written by anybody with its password. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-" + TRACE + "-" + SPAN,
        "00-" + TRACE + "-" + SPAN + "-01-more",
        "ff-" + TRACE + "-" + SPAN + "-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + SPAN + "-01",
        "00-00000000000000000000000000000000-" + SPAN + "-01",
        "00-" + TRACE + "-0000000000000000-01",
        "00-" + TRACE + "-" + SPAN + "-zz",
        " " + VALID,
      })
  void shouldIgnoreAnInvalidContext(String text) {
    assertThat(TraceContext.parse(text).isValid()).isFalse();
  }

  /** In a message, the text may have any characters. It becomes a header to the server. */
  @ParameterizedTest
  @ValueSource(strings = {"a=1\r\nX-Evil: 1", "a=1\n", "\u00e9=1", "a", "a=1,,=2"})
  void shouldDropAnInvalidState(String state) {
    SpanContext span = read(Map.of("traceparent", VALID, "tracestate", state));

    assertThat(span.isValid()).isTrue();
    assertThat(span.getTraceState().isEmpty()).isTrue();
  }

  @Test
  void shouldIgnoreOversizedFields() {
    String later = "01-" + TRACE + "-" + SPAN + "-01-" + "x".repeat(1000);

    assertThat(read(Map.of("traceparent", later)).isValid()).isFalse();
    assertThat(
            read(Map.of("traceparent", VALID, "tracestate", "a=" + "x".repeat(600)))
                .getTraceState()
                .isEmpty())
        .isTrue();
  }
}
