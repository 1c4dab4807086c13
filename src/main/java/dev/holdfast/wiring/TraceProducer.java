package dev.holdfast.wiring;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.cluster.ReplicaId;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.trace.SpanListener;
import dev.holdfast.trace.TraceConfig;
import dev.holdfast.trace.TraceExport;
import dev.holdfast.trace.TraceStore;
import dev.holdfast.trace.UpstreamSpans;
import dev.holdfast.upstream.UpstreamObserver;
import dev.holdfast.wiring.config.TlsConfigurations;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.Nullable;

/** Switches traces on if they have an endpoint. If not, there is null in place of all its parts. */
@Singleton
final class TraceProducer {

  @Produces final @Nullable TraceListener listener;
  private final @Nullable TraceExport export;

  TraceProducer(
      TraceConfig config,
      StreamConfig streams,
      Optional<RedisConnections> redis,
      ProcessMode mode,
      TlsConfigurations tls,
      @ConfigProperty(name = "quarkus.application.version") String version) {
    if (config.endpoint().isEmpty() || !mode.serves()) {
      export = null;
      listener = null;
      return;
    }
    ReplicaId replica = redis.map(RedisConnections::replica).orElseGet(ReplicaId::random);
    TraceStore store =
        redis
            .map(opened -> TraceStore.inRedis(opened.client(), opened.keys(), streams.eventTtl()))
            .orElseGet(TraceStore::inMemory);
    Map<String, String> headers = new HashMap<>();
    config.headers().forEach((name, value) -> headers.put(name.replace('.', '-'), value));
    TraceExport.Receiver receiver =
        new TraceExport.Receiver(
            config.endpoint().get(),
            headers,
            config.tls().map(name -> tls.context("holdfast.trace.tls", name)).orElse(null));
    export = new TraceExport(receiver, config.share(), version, replica.value());
    listener = new SpanListener(export.tracer(), store);
  }

  /** Makes spans of the calls of an upstream; none while traces are off. */
  Optional<UpstreamObserver> ofUpstream(String name) {
    return export == null
        ? Optional.empty()
        : Optional.of(new UpstreamSpans(name, export.tracer()));
  }

  /**
   * Returns what gives the headers of a trace to requests to servers; null while traces are off.
   */
  @Nullable Supplier<Map<String, String>> headers() {
    return export == null ? null : SpanListener::headers;
  }

  @PreDestroy
  void close() {
    if (export != null) {
      export.close();
    }
  }
}
