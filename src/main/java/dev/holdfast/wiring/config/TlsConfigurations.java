package dev.holdfast.wiring.config;

import dev.holdfast.config.ConfigOrigin;
import dev.holdfast.upstream.http.ClientTls;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.quarkus.tls.CertificateUpdatedEvent;
import io.quarkus.tls.TlsConfiguration;
import io.quarkus.tls.TlsConfigurationRegistry;
import io.quarkus.tls.runtime.config.TlsConfigUtils;
import io.smallrye.config.SmallRyeConfig;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.net.SSLOptions;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jboss.logging.Logger;

/**
 * The TLS configurations {@code quarkus.tls.<name>.…} for connections to upstreams, issuers of
 * tokens and the receiver of traces. Quarkus reads their files again after each {@code
 * reload-period}.
 */
@Singleton
public final class TlsConfigurations {

  private static final Logger LOG = Logger.getLogger(TlsConfigurations.class);

  /** To check a configuration without certificates, and for issuers that need none. */
  public static final ClientTls NONE =
      new ClientTls() {
        @Override
        public void configure(HttpClientOptions options) {}

        @Override
        public Runnable onRenewal(Consumer<SSLOptions> listener) {
          return () -> {};
        }
      };

  private final TlsConfigurationRegistry registry;
  private final SmallRyeConfig config;
  private final Map<String, List<Consumer<SSLOptions>>> listeners = new ConcurrentHashMap<>();

  TlsConfigurations(TlsConfigurationRegistry registry, SmallRyeConfig config) {
    this.registry = registry;
    this.config = config;
  }

  /**
   * Returns a configuration.
   *
   * @throws ConfigurationException if there is none of that name
   */
  public ClientTls named(String key, String name) {
    TlsConfiguration found = find(key, name);
    return new ClientTls() {
      @Override
      public void configure(HttpClientOptions options) {
        TlsConfigUtils.configure(options, found);
        options.setSsl(false); // The URL decides.
        protocols(name).ifPresent(options::setEnabledSecureTransportProtocols);
      }

      @Override
      public Runnable onRenewal(Consumer<SSLOptions> listener) {
        var ofName = listeners.computeIfAbsent(name, _ -> new CopyOnWriteArrayList<>());
        ofName.add(listener);
        return () -> ofName.remove(listener);
      }
    };
  }

  /**
   * The versions for servers: without a configuration of its own, a connection to one of them has
   * both. Empty if the configuration names others.
   */
  private Optional<Set<String>> protocols(String name) {
    String key = "quarkus.tls." + name + ".protocols";
    return ConfigOrigin.of(config.getConfigValue(key)).isEmpty()
        ? Optional.of(Set.of("TLSv1.3", "TLSv1.2"))
        : Optional.empty();
  }

  private TlsConfiguration find(String key, String name) {
    return registry
        .get(name)
        .orElseThrow(() ->
            new ConfigurationException(
                "%s names the TLS configuration %s, and there is none: set such as quarkus.tls.%s.trust-store.pem.certs=ca.crt"
                    .formatted(key, name, name)));
  }

  /**
   * Returns a configuration as it is now, for clients of the Java runtime.
   *
   * @throws ConfigurationException if there is none of that name, or its files cannot be read
   */
  public SSLContext context(String key, String name) {
    TlsConfiguration found = find(key, name);
    try {
      return found.createSSLContext();
    } catch (Exception unreadable) {
      throw new ConfigurationException(
          "The TLS configuration " + found.getName() + " cannot be used", unreadable);
    }
  }

  void renewed(@Observes CertificateUpdatedEvent event) {
    LOG.debugf("new connections use the certificates of tls=%s", event.name());
    SSLOptions options = event.tlsConfiguration().getSSLOptions();
    protocols(event.name()).ifPresent(options::setEnabledSecureTransportProtocols);
    listeners.getOrDefault(event.name(), List.of()).forEach(each -> each.accept(options));
  }
}
