package dev.holdfast.observe;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.config.OwnCertificate;
import dev.holdfast.http.limit.ClientBytes;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.relay.Relay;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.Nullable;

/** Measures the relay, the store and the use of limits at each scrape. */
@Singleton
@Startup
final class Gauges extends Meters {

  /** Maximum age of a cached number from the store. */
  private static final Duration MAX_AGE = Duration.ofSeconds(1);

  private final long started = System.nanoTime();
  private final CachedValue<OptionalLong> sessions;
  private final CachedValue<EventLog.Size> logSize;

  Gauges(
      MeterRegistry registry,
      Relay relay,
      SessionStore store,
      EventLog log,
      @ConfigProperty(name = "quarkus.application.version") String version,
      @ConfigProperty(name = "holdfast.store") String storeKind) {
    super(registry);
    sessions = new CachedValue<>(MAX_AGE, () -> count(store));
    logSize = new CachedValue<>(MAX_AGE, () -> depth(log));
    gauge(
        "holdfast.build.info",
        "Always 1; the labels describe the running program",
        () -> 1,
        "version",
        version);
    gauge(
        "holdfast.sessions.active",
        "Sessions in the store, of all replicas",
        () -> number(sessions()));
    gauge("holdfast.log.events", "Events in the log", () -> number(logSize.get().events()));
    bytes(
        "holdfast.log",
        "Memory used by the log, or by all of Redis",
        () -> number(logSize.get().bytes()));
    gauge(
        "holdfast.log.quota.used.ratio",
        "Used part of the quota of the log, 0 to 1",
        () -> logSize.get().quotaUsed().orElse(Double.NaN));
    gauge("holdfast.streams.active", "Streams that this replica writes", relay::openStreams);
    gauge(
        "holdfast.draining",
        "1 while this replica drains, else 0",
        () -> relay.isDraining() ? 1 : 0);
    if (storeKind.equalsIgnoreCase("redis")) {
      CachedValue<Boolean> reachable = new CachedValue<>(MAX_AGE, () -> isReachable(log));
      gauge(
          "holdfast.redis.up",
          "1 while Redis takes writes and notifications arrive, else 0",
          () -> reachable.get() ? 1 : 0);
    }
  }

  /** Measures the use of limits. Called once by CDI. */
  @Inject
  void measureLimits(
      Supplier<SessionLimits> sessionLimits,
      ConnectionLimit connections,
      RequestLimit requests,
      ClientBytes bodies) {
    places("sessions", () -> number(sessions()), () -> sessionLimits.get().all());
    places("connections", connections::used, connections::max);
    places("requests", requests::used, requests::max);
    budget("request_bytes", bodies.all());
    budget("unread_bytes", connections.unread());
  }

  /** Measures the certificates of the gateway. Called once by CDI. */
  @Inject
  void measureCertificates(Supplier<List<OwnCertificate>> certificates) {
    for (OwnCertificate own : certificates.get()) {
      gauge(
          "holdfast.certificate.expiry.seconds",
          "Seconds until a certificate of the gateway expires; negative after that",
          () -> left(certificates.get(), own.tls()),
          "tls",
          own.tls());
    }
  }

  private static Number left(List<OwnCertificate> certificates, String tls) {
    return certificates.stream()
        .filter(own -> own.tls().equals(tls))
        .mapToLong(own -> own.left().toSeconds())
        .min()
        .orElse(0);
  }

  private void places(String limit, Supplier<Number> used, Supplier<Number> most) {
    gauge("holdfast.places.used", "Places of a limit that are taken", used, "limit", limit);
    gauge("holdfast.places.limit", "Places of a limit", most, "limit", limit);
  }

  private void budget(String limit, ByteBudget budget) {
    bytes("holdfast.budget.used", "Bytes of a limit that are held", budget::taken, "limit", limit);
    bytes("holdfast.budget.limit", "Bytes of a limit", budget::capacity, "limit", limit);
  }

  Duration uptime() {
    return Duration.ofNanos(System.nanoTime() - started);
  }

  /** Returns the number of sessions on all replicas; empty while the store is unavailable. */
  OptionalLong sessions() {
    return sessions.get();
  }

  private static OptionalLong count(SessionStore store) {
    try {
      return OptionalLong.of(store.count());
    } catch (SessionStoreException unavailable) {
      return OptionalLong.empty();
    }
  }

  private static EventLog.Size depth(EventLog log) {
    try {
      return log.depth();
    } catch (LogException unavailable) {
      return new EventLog.Size(OptionalLong.empty(), OptionalLong.empty(), OptionalDouble.empty());
    }
  }

  private static boolean isReachable(EventLog log) {
    try {
      log.check();
      return true;
    } catch (LogException unavailable) {
      return false;
    }
  }

  /** Prometheus has NaN for an unknown number. */
  private static Number number(OptionalLong value) {
    return value.isPresent() ? (Number) value.getAsLong() : (Number) Double.NaN;
  }

  /** A value that is loaded again once it is too old. Thread-safe. */
  static final class CachedValue<T> {

    private final Duration maxAge;
    private final Supplier<T> loader;
    private final AutoLock lock = new AutoLock();

    // The lock guards both.
    private @Nullable T value;
    private long loaded;

    CachedValue(Duration maxAge, Supplier<T> loader) {
      this.maxAge = maxAge;
      this.loader = loader;
    }

    /** Returns the value, loaded at most the maximum age ago. */
    T get() {
      try (var _ = lock.hold()) {
        T current = value;
        if (current == null || System.nanoTime() - loaded > maxAge.toNanos()) {
          current = loader.get();
          value = current;
          loaded = System.nanoTime();
        }
        return current;
      }
    }
  }
}
