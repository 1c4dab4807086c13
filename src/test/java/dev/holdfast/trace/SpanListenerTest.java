package dev.holdfast.trace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.session.Session;
import dev.holdfast.testing.SampleSession;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SpanListenerTest {

  private static final StreamRef STREAM = new StreamRef(new LogKey("secret-session"), "a1");
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String OTHER_TRACE = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  private static final String SPAN = "00f067aa0ba902b7";

  private final RecordedSpans spans = new RecordedSpans();
  private final TraceStore store = TraceStore.inMemory();
  private final TraceListener listener = new SpanListener(spans.tracer, store);

  private static String traceparent(String trace) {
    return "00-" + trace + "-" + SPAN + "-01";
  }

  private static Body call(String tool, String meta) {
    return Envelopes.read(
        """
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s",\
        "arguments":{"password":"hunter2"},"_meta":{%s}}}\
        """
            .formatted(tool, meta)
            .getBytes(UTF_8));
  }

  private static Body call(String tool) {
    return call(tool, "");
  }

  private void post(Map<String, String> headers, Body body, Runnable work) {
    try (TraceListener.Request request = listener.request("default", "POST", headers::get)) {
      listener.received(body);
      work.run();
      request.answered(200);
    }
  }

  private SpanContext stored() {
    return store.find(STREAM).toCompletableFuture().join();
  }

  @Test
  void shouldContinueTheTraceOfTheMessage() {
    post(
        Map.of(),
        call("echo", "\"traceparent\":\"" + traceparent(TRACE) + "\",\"tracestate\":\"a=1\""),
        () -> assertThat(SpanListener.headers()).containsEntry("tracestate", "a=1"));

    SpanData span = spans.named("tools/call echo");
    assertThat(span.getTraceId()).isEqualTo(TRACE);
    assertThat(span.getParentSpanId()).isEqualTo(SPAN);
    assertThat(span.getAttributes().toString()).doesNotContain("hunter2");
  }

  /** The header belongs to the last hop, so it is nearer than the message. */
  @Test
  void shouldContinueTheTraceOfTheHeaderFirst() {
    Body body = call("echo", "\"traceparent\":\"" + traceparent(OTHER_TRACE) + "\"");

    post(Map.of("traceparent", traceparent(TRACE)), body, () -> {});

    SpanData span = spans.named("tools/call echo");
    assertThat(span.getTraceId()).isEqualTo(TRACE);
    assertThat(span.getLinks())
        .extracting(LinkData::getSpanContext)
        .extracting(SpanContext::getTraceId)
        .containsExactly(OTHER_TRACE);
  }

  @Test
  void shouldNameTheClient() {
    Session session =
        SampleSession.of(
            SessionId.random(),
            "default",
            "",
            ProtocolVersion.V2025_11_25,
            "web 1.2" + "x".repeat(200),
            Instant.EPOCH,
            "",
            Principal.ANONYMOUS);

    post(Map.of(), call("echo"), () -> listener.found(session));

    String client = spans.all().getFirst().getAttributes().get(SpanAttributes.CLIENT);
    assertThat(client).startsWith("web 1.2").hasSize(100);
  }

  @Test
  void shouldTraceRequestsThatAreRefusedBeforeTheirBody() {
    try (TraceListener.Request request = listener.request("default", "POST", _ -> null)) {
      request.answered(503);
    }

    assertThat(spans.named("POST").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
  }

  @Test
  void shouldBoundTheNamesThatClientsChoose() {
    post(Map.of(), call("x".repeat(200)), () -> {});

    assertThat(spans.all().getFirst().getName()).hasSizeLessThan(120);
  }

  @Test
  void shouldMakeTheWritingPartOfTheRequestThatOpenedTheStream() {
    post(
        Map.of(),
        call("echo"),
        () -> {
          listener.opening(STREAM);
          runElsewhere(listener.writing(STREAM, () -> listener.append(STREAM, 3, () -> {})));
        });

    SpanData request = spans.named("tools/call echo");
    SpanData append = spans.named("append");
    assertThat(append.getParentSpanContext()).isEqualTo(request.getSpanContext());
    assertThat(append.getAttributes().get(SpanAttributes.EVENTS)).isEqualTo(3);
    assertThat(append.getAttributes().get(SpanAttributes.STREAM)).isEqualTo("secret…/a1");
  }

  /** A session that is pinned to another replica: its owner finds the trace in the store. */
  @Test
  void shouldFindTheRequestOfAStreamThatWasOpenedElsewhere() {
    store.put(STREAM, TraceContext.parse(traceparent(TRACE)));

    runElsewhere(listener.writing(STREAM, () -> listener.append(STREAM, 1, () -> {})));

    assertThat(spans.named("append").getTraceId()).isEqualTo(TRACE);
    assertThat(spans.named("append").getParentSpanId()).isEqualTo(SPAN);
  }

  /** It would make one trace of all that a session ever gets. */
  @Test
  void shouldNotMakeTheStandaloneStreamPartOfARequest() {
    StreamRef standalone = new StreamRef(new LogKey("secret-session"), "g");

    post(
        Map.of("traceparent", traceparent(TRACE)),
        call("echo"),
        () ->
            runElsewhere(
                listener.writing(standalone, () -> listener.append(standalone, 1, () -> {}))));

    assertThat(spans.named("append").getTraceId()).isNotEqualTo(TRACE);
  }

  @Test
  void shouldLinkAReplayToTheRequestThatOpenedTheStream() {
    store.put(STREAM, TraceContext.parse(traceparent(TRACE)));

    listener.reading(STREAM, Position.START, true).ended(7, Position.START);
    listener.reading(STREAM, Position.START, false).ended(0, Position.START);

    assertThat(spans.named("replay").getAttributes().get(SpanAttributes.EVENTS)).isEqualTo(7);
    assertThat(spans.named("replay").getLinks())
        .extracting(LinkData::getSpanContext)
        .extracting(SpanContext::getTraceId)
        .containsExactly(TRACE);
    assertThat(spans.named("deliver").getLinks()).isEmpty();
  }

  @Test
  void shouldMakeATakeOverPartOfTheTraceOfItsCall() {
    store.put(STREAM, TraceContext.parse(traceparent(TRACE)));

    listener.takeOver(
        STREAM,
        () -> runElsewhere(listener.writing(STREAM, () -> listener.append(STREAM, 1, () -> {}))));

    SpanData takeOver = spans.named("take over");
    assertThat(takeOver.getTraceId()).isEqualTo(TRACE);
    assertThat(takeOver.getParentSpanId()).isEqualTo(SPAN);
    assertThat(spans.named("append").getParentSpanContext()).isEqualTo(takeOver.getSpanContext());
  }

  @Test
  void shouldKeepNothingOfATraceThatIsNotRecorded() {
    String unsampled = traceparent(TRACE).replaceAll("01$", "00");

    post(
        Map.of("traceparent", unsampled),
        call("echo"),
        () -> {
          listener.opening(STREAM);
          // The server is told not to record it either.
          assertThat(SpanListener.headers().get("traceparent"))
              .startsWith("00-" + TRACE)
              .endsWith("-00");
        });

    assertThat(stored().isValid()).isFalse();
    assertThat(spans.all()).isEmpty();
  }

  @Test
  void shouldMarkFailedAppends() {
    assertThatIllegalStateException()
        .isThrownBy(() ->
            listener.append(
                STREAM,
                1,
                () -> {
                  throw new IllegalStateException("hunter2");
                }));

    SpanData append = spans.named("append");
    assertThat(append.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(append.toString()).contains("IllegalStateException").doesNotContain("hunter2");
  }

  @Test
  void shouldKeepTheNewestStreamsInMemory() {
    for (int i = 0; i <= TraceStore.STREAMS; i++) {
      store.put(new StreamRef(new LogKey("s"), "n" + i), TraceContext.parse(traceparent(TRACE)));
    }

    assertThat(List.of("n0", "n1"))
        .extracting(name ->
            store.find(new StreamRef(new LogKey("s"), name)).toCompletableFuture().join().isValid())
        .containsExactly(false, true);
  }

  private static void runElsewhere(Runnable work) {
    try {
      Thread.ofVirtual().start(work).join();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
