package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** Receives traces as a collector does: OTLP over HTTP, as Protocol Buffers. */
public final class TraceReceiver implements AutoCloseable {

  private final HttpServer server;
  private final List<Received> spans = new CopyOnWriteArrayList<>();
  private final List<String> bodies = new CopyOnWriteArrayList<>();
  private final List<Headers> heads = new CopyOnWriteArrayList<>();
  private volatile CountDownLatch open = new CountDownLatch(0);
  private volatile int status = 200;

  /**
   * A span.
   *
   * @param parent id of its parent; empty for none
   * @param links {@code trace/span} of each link
   * @param replica id of the process that sent it
   */
  public record Received(
      String name,
      Span.SpanKind kind,
      String trace,
      String id,
      String parent,
      List<String> links,
      Map<String, String> attributes,
      boolean failed,
      String replica) {

    /** How a link names this span. */
    public String asLink() {
      return trace + "/" + id;
    }
  }

  private TraceReceiver(@Nullable SSLContext tls) {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try {
      if (tls == null) {
        server = HttpServer.create(address, 0);
      } else {
        HttpsServer secure = HttpsServer.create(address, 0);
        secure.setHttpsConfigurator(new HttpsConfigurator(tls));
        server = secure;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/v1/traces", this::receive);
    server.start();
  }

  /** Starts a receiver on a free port. */
  public static TraceReceiver start() {
    return new TraceReceiver(null);
  }

  /** Starts a receiver with TLS. */
  public static TraceReceiver withTls(SSLContext tls) {
    return new TraceReceiver(tls);
  }

  private void receive(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      open.await();
      heads.add(exchange.getRequestHeaders());
      bodies.add(new String(body, ISO_8859_1));
      ExportTraceServiceRequest.parseFrom(body).getResourceSpansList().forEach(this::add);
      exchange.sendResponseHeaders(status, -1);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void add(ResourceSpans process) {
    String replica =
        attributes(process.getResource().getAttributesList())
            .getOrDefault("service.instance.id", "");
    process
        .getScopeSpansList()
        .forEach(scope -> scope.getSpansList().forEach(span -> spans.add(received(span, replica))));
  }

  private static Received received(Span span, String replica) {
    return new Received(
        span.getName(),
        span.getKind(),
        hex(span.getTraceId().toByteArray()),
        hex(span.getSpanId().toByteArray()),
        hex(span.getParentSpanId().toByteArray()),
        span.getLinksList().stream()
            .map(link ->
                hex(link.getTraceId().toByteArray()) + "/" + hex(link.getSpanId().toByteArray()))
            .toList(),
        attributes(span.getAttributesList()),
        span.getStatus().getCodeValue() == 2,
        replica);
  }

  private static String hex(byte[] id) {
    return HexFormat.of().formatHex(id);
  }

  private static Map<String, String> attributes(List<KeyValue> attributes) {
    return attributes.stream()
        .collect(
            Collectors.toMap(
                KeyValue::getKey, each -> text(each.getValue()), (a, _) -> a, TreeMap::new));
  }

  private static String text(AnyValue value) {
    return value.hasIntValue() ? Long.toString(value.getIntValue()) : value.getStringValue();
  }

  /** Where spans are sent to. */
  public URI url() {
    String scheme = server instanceof HttpsServer ? "https" : "http";
    return URI.create(scheme + "://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces");
  }

  /** The values of a header of all requests. */
  public List<String> headers(String name) {
    return heads.stream().flatMap(head -> head.getOrDefault(name, List.of()).stream()).toList();
  }

  /** All spans that have arrived. */
  public List<Received> spans() {
    return List.copyOf(spans);
  }

  /** The first span of which this is true; waits for it. */
  public Received await(Predicate<Received> wanted) {
    return Awaitility.await()
        .until(() -> spans.stream().filter(wanted).findFirst(), found -> found.isPresent())
        .orElseThrow();
  }

  /** All that has arrived, byte by byte. */
  public String raw() {
    return String.join("\n", bodies);
  }

  /** Answers with this status from now on. */
  public void answer(int with) {
    status = with;
  }

  /** Leaves everything unanswered until {@link #resume}. */
  public void stall() {
    open = new CountDownLatch(1);
  }

  /** Answers again. */
  public void resume() {
    open.countDown();
  }

  @Override
  public void close() {
    resume();
    server.stop(0);
  }
}
