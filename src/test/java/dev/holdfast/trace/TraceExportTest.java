package dev.holdfast.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Certificates;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.TraceReceiver;
import io.opentelemetry.api.trace.Tracer;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceExportTest {

  private static final int BATCH = 512;

  @AutoClose private final TraceReceiver receiver = TraceReceiver.start();

  private static TraceExport.Receiver to(URI url) {
    return new TraceExport.Receiver(url, Map.of(), null);
  }

  private static void record(Tracer tracer, String name, int spans) {
    for (int i = 0; i < spans; i++) {
      tracer.spanBuilder(name).startSpan().end();
    }
  }

  @Test
  void shouldSendTheLastSpansWhenItCloses() {
    try (TraceExport export = new TraceExport(to(receiver.url()), 100, "1.2.3", "r1")) {
      record(export.tracer(), "last", 1);
    }

    TraceReceiver.Received span = receiver.await(each -> each.name().equals("last"));
    assertThat(span.replica()).isEqualTo("r1");
    assertThat(receiver.raw()).contains("holdfast", "1.2.3");
  }

  /** As hosted services and receivers behind a company's authority want it. */
  @Test
  void shouldSendHeadersAndTrustTheAuthorityThatIsConfigured(@TempDir Path directory) {
    Certificates authority = new Certificates(directory, "company");
    try (TraceReceiver secure =
        TraceReceiver.withTls(authority.context(authority.issue("receiver")))) {
      TraceExport.Receiver hosted =
          new TraceExport.Receiver(secure.url(), Map.of("api-key", "k-1"), authority.context(null));
      try (TraceExport export = new TraceExport(hosted, 100, "1", "r1")) {
        record(export.tracer(), "sent", 1);
      }

      secure.await(each -> each.name().equals("sent"));
      assertThat(secure.headers("api-key")).containsOnly("k-1");
      assertThat(hosted.toString()).doesNotContain("k-1");
    }
  }

  @Test
  void shouldRecordNoneWithAShareOfZero() {
    try (TraceExport export = new TraceExport(to(receiver.url()), 0, "1", "r1")) {
      record(export.tracer(), "none", 100);
    }

    assertThat(receiver.spans()).isEmpty();
  }

  /** Memory and the threads of calls must not depend on the receiver. */
  @Test
  void shouldDropSpansWhileTheReceiverIsSlow() {
    receiver.stall();
    try (TraceExport export = new TraceExport(to(receiver.url()), 100, "1", "r1")) {
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
    try (LoggedLines lines = new LoggedLines(TraceExport.class)) {
      try (TraceExport export = new TraceExport(to(receiver.url()), 100, "1", "r1")) {
        record(export.tracer(), "lost", 3);
      }

      await().until(() -> !lines.lines().isEmpty());
      assertThat(lines.lines()).containsExactly("traces not sent spans=3 reason=status 413");
    }
  }

  @Test
  void shouldRefuseAnEndpointThatIsNoUrl() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new TraceExport(to(URI.create("collector:4318")), 100, "1", "r1").close());
  }
}
