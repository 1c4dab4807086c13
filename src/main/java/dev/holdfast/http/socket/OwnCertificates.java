package dev.holdfast.http.socket;

import dev.holdfast.config.ConfigOrigin;
import dev.holdfast.config.OwnCertificate;
import dev.holdfast.text.Reason;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.quarkus.tls.CertificateUpdatedEvent;
import io.quarkus.tls.TlsConfiguration;
import io.quarkus.tls.TlsConfigurationRegistry;
import io.quarkus.tls.runtime.CertificateRecorder;
import io.quarkus.tls.runtime.VertxCertificateHolder;
import io.smallrye.config.SmallRyeConfig;
import io.vertx.core.Vertx;
import io.vertx.core.net.KeyCertOptions;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.X509KeyManager;
import org.jboss.logging.Logger;

/**
 * Looks at the certificates that this program shows: at the start, when Quarkus has read their
 * files again, and every {@code reload-period} or day. Quarkus does not report files that it cannot
 * use, and keeps the earlier ones.
 */
@Singleton
public final class OwnCertificates implements Supplier<List<OwnCertificate>> {

  private static final Logger LOG = Logger.getLogger(OwnCertificates.class);
  private static final Duration DAY = Duration.ofDays(1);

  /** A key of a key store. The name may be in quotes; without one it is the default. */
  private static final Pattern KEY_STORE =
      Pattern.compile("quarkus\\.tls\\.(?:\"?([^\"]+?)\"?\\.)?key-store\\..*");

  private final TlsConfigurationRegistry registry;
  private final SmallRyeConfig config;
  private final Vertx vertx;
  private final Map<String, OwnCertificate> known = new ConcurrentSkipListMap<>();

  /** The last line about each of them, which is not repeated. */
  private final Map<String, String> logged = new ConcurrentHashMap<>();

  OwnCertificates(TlsConfigurationRegistry registry, SmallRyeConfig config, Vertx vertx) {
    this.registry = registry;
    this.config = config;
    this.vertx = vertx;
    ConfigOrigin.keys(config)
        .flatMap(key -> KEY_STORE.matcher(key).results().map(OwnCertificates::name))
        .distinct()
        .forEach(name -> read(name).ifPresent(own -> known.put(name, own)));
  }

  private static String name(MatchResult key) {
    return key.group(1) == null ? "" : key.group(1);
  }

  /** Returns what each TLS configuration shows, as of the last look. */
  @Override
  public List<OwnCertificate> get() {
    return List.copyOf(known.values());
  }

  /** Throws {@link ConfigurationException} for a key that belongs to another certificate. */
  public void start() {
    known.forEach((name, own) -> {
      if (own.problem() != null) {
        throw new ConfigurationException(key(name) + "key-store cannot be used: " + own.problem());
      }
      report(own);
      Duration period =
          config.getOptionalValue(key(name) + "reload-period", Duration.class).orElse(DAY);
      long _ =
          vertx.setPeriodic(
              period.toMillis(),
              _ -> {
                var _ = Thread.startVirtualThread(() -> look(name));
              });
    });
  }

  private static String key(String name) {
    return name.isEmpty() ? "quarkus.tls." : "quarkus.tls." + name + ".";
  }

  void renewed(@Observes CertificateUpdatedEvent event) {
    if (known.containsKey(event.name())) {
      look(event.name());
    }
  }

  private void look(String name) {
    read(name)
        .ifPresent(own -> {
          known.put(name, own);
          report(own);
        });
  }

  /** Returns the certificate that ends first; empty if the configuration shows none. */
  private Optional<OwnCertificate> read(String name) {
    Optional<TlsConfiguration> tls = name.isEmpty() ? registry.getDefault() : registry.get(name);
    KeyCertOptions files = tls.map(TlsConfiguration::getKeyStoreOptions).orElse(null);
    if (files == null) {
      return Optional.empty();
    }
    try {
      if (tls.get() instanceof VertxCertificateHolder loaded) {
        // Fails where the next look of Quarkus would, which does not report it.
        var _ = CertificateRecorder.getKeyStore(loaded.config(), vertx, loaded.getName());
      }
      return Stream.of(files.getKeyManagerFactory(vertx).getKeyManagers())
          .filter(X509KeyManager.class::isInstance)
          .flatMap(keys -> OwnCertificate.of(name, (X509KeyManager) keys))
          .min(Comparator.comparing(OwnCertificate::end));
    } catch (Exception unreadable) {
      OwnCertificate before = known.get(name);
      Instant end = before == null ? Instant.EPOCH : before.end();
      return Optional.of(new OwnCertificate(name, end, Reason.of(unreadable)));
    }
  }

  private void report(OwnCertificate own) {
    String state =
        own.problem() != null
            ? own.problem()
            : own.hasExpired() ? "it has expired" : own.endsSoon() ? days(own) : "fine";
    if (state.equals(logged.put(own.tls(), state)) || state.equals("fine")) {
      return;
    }
    if (own.problem() == null && !own.hasExpired()) {
      LOG.warnf("certificate ends soon tls=%s days-left=%s", own.tls(), state);
    } else {
      LOG.errorf("certificate cannot be used tls=%s reason=%s", own.tls(), state);
    }
  }

  private static String days(OwnCertificate own) {
    return Long.toString(own.left().toDays());
  }
}
