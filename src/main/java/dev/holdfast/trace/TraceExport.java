package dev.holdfast.trace;

import dev.holdfast.budget.LogRate;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.exporter.internal.FailedExportException.HttpExportException;
import io.opentelemetry.exporter.internal.http.HttpSenderProvider;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.exporter.sender.jdk.internal.JdkHttpSenderProvider;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Sends spans to an OTLP receiver over HTTP, in batches and on a thread of its own. While the
 * receiver is away or slow, spans wait in a bounded queue; further spans are dropped.
 */
public final class TraceExport implements AutoCloseable {

  /** Spans that may wait. A span has about a kilobyte. */
  static final int QUEUED_SPANS = 2048;

  private static final int BATCH_SPANS = 512;
  private static final Duration BATCH_DELAY = Duration.ofSeconds(1);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
  private static final int MOST_CHARACTERS = 256;

  /** Time for which a stopping replica tries to send the last spans. */
  private static final Duration LAST_SPANS = Duration.ofSeconds(2);

  private static final Logger LOG = Logger.getLogger(TraceExport.class);
  private static final LogRate FAILURES = new LogRate(Duration.ofMinutes(1));

  private final SdkTracerProvider provider;

  /**
   * Receiver of the spans.
   *
   * @param endpoint URL of an OTLP receiver
   * @param tls for https; null for that of the Java runtime
   */
  public record Receiver(URI endpoint, Map<String, String> headers, @Nullable SSLContext tls) {

    /** Omits the headers, which may be credentials. */
    @Override
    public String toString() {
      return "Receiver[" + endpoint + "]";
    }
  }

  /**
   * Prepares the export. Connects when there are spans.
   *
   * @param share percentage of the traces that begin here and are recorded
   * @throws IllegalArgumentException if the endpoint is not an HTTP URL
   */
  public TraceExport(Receiver receiver, int share, String version, String replica) {
    Resource resource =
        Resource.getDefault()
            .merge(
                Resource.create(
                    Attributes.of(
                        AttributeKey.stringKey("service.name"), "holdfast",
                        AttributeKey.stringKey("service.version"), version,
                        AttributeKey.stringKey("service.instance.id"), replica)));
    provider =
        SdkTracerProvider.builder()
            .setResource(resource)
            .setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(share / 100.0)))
            .setSpanLimits(SpanLimits.builder().setMaxAttributeValueLength(MOST_CHARACTERS).build())
            .addSpanProcessor(
                BatchSpanProcessor.builder(new ReportingExporter(exporter(receiver)))
                    .setMaxQueueSize(QUEUED_SPANS)
                    .setMaxExportBatchSize(BATCH_SPANS)
                    .setScheduleDelay(BATCH_DELAY)
                    .setExporterTimeout(TIMEOUT)
                    .setMeterProvider(MeterProvider.noop())
                    .build())
            .build();
  }

  private static OtlpHttpSpanExporter exporter(Receiver receiver) {
    OtlpHttpSpanExporterBuilder exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(receiver.endpoint().toString())
            .setTimeout(TIMEOUT)
            .setConnectTimeout(CONNECT_TIMEOUT)
            .setMeterProvider(MeterProvider.noop())
            .setComponentLoader(new JdkSender());
    receiver.headers().forEach(exporter::addHeader);
    if (receiver.tls() != null) {
      // The sender of the JDK uses no trust manager besides.
      exporter.setSslContext(receiver.tls(), null);
    }
    return exporter.build();
  }

  /** Creates spans. */
  public Tracer tracer() {
    return provider.get("dev.holdfast");
  }

  /** Sends the spans that wait, if the receiver takes them soon. */
  @Override
  public void close() {
    provider.shutdown().join(LAST_SPANS.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Names the HTTP client, since a native executable cannot search for one. */
  private static final class JdkSender implements ComponentLoader {

    @Override
    public <T> Iterable<T> load(Class<T> type) {
      return type == HttpSenderProvider.class
          ? List.of(type.cast(new JdkHttpSenderProvider()))
          : List.of();
    }
  }

  /** Logs at a bounded rate that spans were lost. */
  private record ReportingExporter(SpanExporter exporter) implements SpanExporter {

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

    /** Uses an internal class of OpenTelemetry, since nothing else tells the status. */
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
}
