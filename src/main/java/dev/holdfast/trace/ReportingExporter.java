package dev.holdfast.trace;

import dev.holdfast.budget.LogRate;
import io.opentelemetry.exporter.internal.FailedExportException.HttpExportException;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Logs at a bounded rate that spans were lost. */
record ReportingExporter(SpanExporter exporter) implements SpanExporter {

  private static final Logger LOG = Logger.getLogger(ReportingExporter.class);
  private static final LogRate FAILURES = new LogRate(Duration.ofMinutes(1));

  @Override
  public CompletableResultCode export(Collection<SpanData> spans) {
    int number = spans.size();
    CompletableResultCode result = exporter.export(spans);
    return result.whenComplete(() -> {
      if (!result.isSuccess()) {
        report(number, result.getFailureThrowable());
      }
    });
  }

  private static void report(int spans, @Nullable Throwable failure) {
    FAILURES.log(
        LOG,
        Logger.Level.WARN,
        () -> "traces not sent spans=%d reason=%s".formatted(spans, reason(failure)));
  }

  private static String reason(@Nullable Throwable failure) {
    return failure instanceof HttpExportException http && http.getResponse() != null
        ? "status " + http.getResponse().statusCode()
        : Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
            .filter(IOException.class::isInstance)
            .findFirst()
            .map(Throwable::toString)
            .orElse("no answer in time");
  }

  @Override
  public CompletableResultCode flush() {
    return exporter.flush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return exporter.shutdown();
  }
}
