package dev.holdfast.observe;

import dev.holdfast.http.limit.BodyBudget;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.relay.Relay;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.quarkus.runtime.Startup;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Measures the uptime, the relay, the store and the use of limits at each scrape. */
@Singleton
@Startup
final class Gauges {

  /** Maximum age of a cached number from the store. */
  private static final Duration MAX_AGE = Duration.ofSeconds(1);

  private final long started = System.nanoTime();
  private final CachedValue<OptionalLong> sessions;
  private final CachedValue<EventLog.Size> logSize;

  Gauges(MeterRegistry registry, Relay relay, SessionStore store, EventLog log) {
    sessions = new CachedValue<>(MAX_AGE, () -> count(store));
    logSize = new CachedValue<>(MAX_AGE, () -> depth(log));
    TimeGauge.builder("holdfast.uptime", () -> uptime().toMillis(), TimeUnit.MILLISECONDS)
        .strongReference(true)
        .register(registry);
    register(registry, "holdfast.sessions.active", null, this::sessions);
    register(registry, "holdfast.log.events", null, () -> logSize.get().events());
    register(registry, "holdfast.log", BaseUnits.BYTES, () -> logSize.get().bytes());
    Gauge.builder("holdfast.log.quota", () -> logSize.get().quotaUsed().orElse(Double.NaN))
        .strongReference(true)
        .register(registry);
    Gauge.builder("holdfast.streams.active", relay::openStreams)
        .strongReference(true)
        .register(registry);
    Gauge.builder("holdfast.draining", () -> relay.isDraining() ? 1 : 0)
        .strongReference(true)
        .register(registry);
  }

  /** Measures the used parts of limits. Called once by CDI. */
  @Inject
  void measureLimits(
      MeterRegistry registry,
      LimitsConfig limits,
      ConnectionLimit connections,
      RequestLimit requests,
      BodyBudget bodies) {
    registerLimit(registry, "sessions", () -> number(sessions()).doubleValue() / limits.sessions());
    registerLimit(registry, "connections", connections::used);
    registerLimit(registry, "requests", requests::used);
    registerLimit(registry, "request_bytes", bodies::used);
    registerLimit(registry, "unread_bytes", connections::usedBytes);
  }

  private static void registerLimit(MeterRegistry registry, String limit, Supplier<Number> used) {
    Gauge.builder("holdfast.limit.used", used)
        .tag("limit", limit)
        .strongReference(true)
        .register(registry);
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

  private static void register(
      MeterRegistry registry, String name, @Nullable String unit, Supplier<OptionalLong> value) {
    Gauge.builder(name, () -> number(value.get()))
        .baseUnit(unit)
        .strongReference(true)
        .register(registry);
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
