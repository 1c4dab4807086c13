package dev.holdfast.observe;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.quarkus.runtime.Startup;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** How long this replica has run. */
@Singleton
@Startup
final class Uptime {

  private final long started = System.nanoTime();

  Uptime(MeterRegistry registry) {
    TimeGauge.builder("holdfast.uptime", () -> get().toMillis(), TimeUnit.MILLISECONDS)
        .strongReference(true)
        .register(registry);
  }

  Duration get() {
    return Duration.ofNanos(System.nanoTime() - started);
  }
}
