package dev.holdfast.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.TraceReceiver;
import io.opentelemetry.api.trace.Tracer;
import java.net.URI;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class TraceExportTest {

  private static final int BATCH = 512;

  @AutoClose private final TraceReceiver receiver = TraceReceiver.start();

  private static void record(Tracer tracer, String name, int spans) {
    for (int i = 0; i < spans; i++) {
      tracer.spanBuilder(name).startSpan().end();
    }
  }

  @Test
  void shouldSendTheLastSpansWhenItCloses() {
    try (TraceExport export = new TraceExport(receiver.url(), 100, "1.2.3", "r1")) {
      record(export.tracer(), "last", 1);
    }

    TraceReceiver.Received span = receiver.await(each -> each.name().equals("last"));
    assertThat(span.replica()).isEqualTo("r1");
    assertThat(receiver.raw()).contains("holdfast", "1.2.3");
  }

  @Test
  void shouldRecordNoneWithAShareOfZero() {
    try (TraceExport export = new TraceExport(receiver.url(), 0, "1", "r1")) {
      record(export.tracer(), "none", 100);
    }

    assertThat(receiver.spans()).isEmpty();
  }

  /** Memory and the threads of calls must not depend on the receiver. */
  @Test
  void shouldDropSpansWhileTheReceiverIsSlow() {
    receiver.stall();
    try (TraceExport export = new TraceExport(receiver.url(), 100, "1", "r1")) {
      record(export.tracer(), "early", 20_000);

      receiver.resume();
      // Until there is room in the queue again.
      await()
          .until(() -> {
            record(export.tracer(), "late", 1);
            return receiver.spans().stream().anyMatch(each -> each.name().equals("late"));
          });
    }

    assertThat(receiver.spans().stream().filter(each -> each.name().equals("early")).count())
        .isBetween((long) TraceExport.QUEUED_SPANS, TraceExport.QUEUED_SPANS + 2L * BATCH);
  }

  @Test
  void shouldLogThatSpansAreLost() {
    receiver.answer(413);
    try (LoggedLines lines = new LoggedLines(ReportingExporter.class)) {
      try (TraceExport export = new TraceExport(receiver.url(), 100, "1", "r1")) {
        record(export.tracer(), "lost", 3);
      }

      await().until(() -> !lines.lines().isEmpty());
      assertThat(lines.lines()).containsExactly("traces not sent spans=3 reason=status 413");
    }
  }

  @Test
  void shouldRefuseAnEndpointThatIsNoUrl() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new TraceExport(URI.create("collector:4318"), 100, "1", "r1").close());
  }
}
