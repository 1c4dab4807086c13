package dev.holdfast.trace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.ObservedUpstream;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.List;
import org.junit.jupiter.api.Test;

class UpstreamSpansTest {

  private static final Body CALL =
      Envelopes.read(
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}"
              .getBytes(UTF_8));

  private final RecordedSpans spans = new RecordedSpans();
  private final ScriptedUpstream scripted = new ScriptedUpstream();
  private final Upstream upstream =
      ObservedUpstream.of(scripted, List.of(new UpstreamSpans("files", spans.tracer)));
  private final UpstreamSession session = upstream.attach(new UpstreamLink("s", "2025-11-25"));

  @Test
  void shouldTraceACallWithAJsonAnswer() {
    session.request(CALL);

    SpanData span = spans.named("tools/call x");
    assertThat(span.getKind()).isEqualTo(SpanKind.CLIENT);
    assertThat(span.getAttributes().get(SpanAttributes.UPSTREAM)).isEqualTo("files");
  }

  @Test
  void shouldTraceACallToTheEndOfItsStream() {
    scripted.answerWithStream();

    MessageSource answer = session.request(CALL).source();
    assertThat(spans.all()).isEmpty();
    answer.close();
    answer.close();

    assertThat(spans.all()).hasSize(1);
  }

  @Test
  void shouldMarkCallsThatFail() {
    scripted.answer =
        _ -> {
          throw new UpstreamException.Broken("it says hunter2", null);
        };

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> session.request(CALL));
    assertFailed();
  }

  @Test
  void shouldMarkStreamsThatBreak() {
    scripted.resume = _ -> new BrokenSource();

    assertThatExceptionOfType(UpstreamException.Broken.class)
        .isThrownBy(() -> session.resume("7").take());
    assertFailed();
  }

  private void assertFailed() {
    assertThat(spans.all())
        .singleElement()
        .satisfies(span -> {
          assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
          assertThat(span.toString()).contains("Broken").doesNotContain("hunter2");
        });
  }

  private static final class BrokenSource implements MessageSource {
    @Override
    public List<UpstreamMessage> take() {
      throw new UpstreamException.Broken("it says hunter2", null);
    }

    @Override
    public void close() {}
  }
}
