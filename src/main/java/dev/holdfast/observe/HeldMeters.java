package dev.holdfast.observe;

import dev.holdfast.held.HeldListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import jakarta.inject.Singleton;
import java.util.Map;

/** Metrics of calls that run for longer than their clients wait. */
@Singleton
@Startup
public final class HeldMeters extends Meters implements HeldListener {

  private final Map<Event, Counter> events =
      counters(
          Event.class,
          "holdfast.held.calls",
          "Calls that were answered with a handle, and requests for their results");

  /** Registers the counters. */
  HeldMeters(MeterRegistry registry) {
    super(registry);
  }

  @Override
  public void held(Event event) {
    count(events, event);
  }
}
