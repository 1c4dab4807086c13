package dev.holdfast.upstream.http;

import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.net.SSLOptions;
import java.util.function.Consumer;

/** TLS of the connections to a server: whom to trust, and which certificate to show. */
public interface ClientTls {

  /** Sets the certificates, protocols and ciphers of today. */
  void configure(HttpClientOptions options);

  /**
   * Reports each renewal of the certificates.
   *
   * @param listener gets the new options, on a thread that may block
   * @return ends the reports
   */
  Runnable onRenewal(Consumer<SSLOptions> listener);
}
