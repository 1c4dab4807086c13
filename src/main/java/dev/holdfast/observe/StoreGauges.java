package dev.holdfast.observe;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogSize;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.quarkus.runtime.Startup;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What only the store knows, asked for when somebody wants to see it, and not too often. */
@Singleton
@Startup
final class StoreGauges {

  private static final Duration FRESH = Duration.ofSeconds(1);

  private final CachedValue<OptionalLong> sessions;
  private final CachedValue<LogSize> depth;

  StoreGauges(MeterRegistry registry, SessionStore store, EventLog log) {
    sessions = new CachedValue<>(FRESH, () -> count(store));
    depth = new CachedValue<>(FRESH, () -> depth(log));
    gauge(registry, "holdfast.sessions.active", null, this::sessions);
    gauge(registry, "holdfast.log.events", null, () -> depth.get().events());
    gauge(registry, "holdfast.log", BaseUnits.BYTES, () -> depth.get().bytes());
  }

  /** How many sessions there are, on all replicas; empty while the store is away. */
  OptionalLong sessions() {
    return sessions.get();
  }

  private static OptionalLong count(SessionStore store) {
    try {
      return OptionalLong.of(store.count());
    } catch (SessionStoreException away) {
      return OptionalLong.empty();
    }
  }

  private static LogSize depth(EventLog log) {
    try {
      return log.depth();
    } catch (LogException away) {
      return new LogSize(OptionalLong.empty(), OptionalLong.empty());
    }
  }

  private static void gauge(
      MeterRegistry registry, String name, @Nullable String unit, Supplier<OptionalLong> value) {
    Gauge.builder(name, () -> number(value.get()))
        .baseUnit(unit)
        .strongReference(true)
        .register(registry);
  }

  /** Prometheus says NaN of what is not known. */
  private static Number number(OptionalLong value) {
    return value.isPresent() ? (Number) value.getAsLong() : (Number) Double.NaN;
  }
}
