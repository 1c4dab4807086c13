package dev.holdfast.observe;

import dev.holdfast.redis.RedisCommandListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import jakarta.inject.Singleton;
import java.util.concurrent.TimeUnit;

/** Metrics of the Redis connections. Created only where Redis is the store. */
@Singleton
public final class RedisMetrics implements RedisCommandListener {

  private final Timer roundTrips;
  private final Counter failures;

  RedisMetrics(MeterRegistry registry) {
    roundTrips = registry.timer("holdfast.redis.round.trips");
    failures = registry.counter("holdfast.redis.failures");
  }

  @Override
  public void answered(long nanos) {
    roundTrips.record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void unanswered() {
    failures.increment();
  }
}
