package dev.holdfast.trace;

import dev.holdfast.config.Range;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.util.Map;
import java.util.Optional;

/** Receiver of the traces. Without an endpoint, traces are off. */
@ConfigMapping(prefix = "holdfast.trace")
public interface TraceConfig {

  /** URL of an OTLP receiver that takes spans over HTTP, such as {@code …:4318/v1/traces}. */
  Optional<URI> endpoint();

  /** Headers of each request to the receiver, such as a key of a hosted service. */
  Map<String, String> headers();

  /** Name of the TLS configuration of connections to the receiver. */
  Optional<String> tls();

  /**
   * Percentage of the traces that begin here and are recorded. A request that is part of a client's
   * trace is recorded if the client records that trace.
   */
  @WithDefault("100")
  @Range(min = "0", max = "100")
  int share();
}
