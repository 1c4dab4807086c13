package dev.holdfast.observe;

import dev.holdfast.relay.attach.AttachListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import jakarta.inject.Singleton;
import java.util.Map;

/** Metrics of calls that clients repeat. */
@Singleton
@Startup
public final class AttachMeters extends Meters implements AttachListener {

  private final Map<Event, Counter> events =
      counters(
          Event.class,
          "holdfast.repeated.calls",
          "Repeated calls that were joined to the first one, and those that were executed");

  /** Registers the counters. */
  AttachMeters(MeterRegistry registry) {
    super(registry);
  }

  @Override
  public void repeated(Event event) {
    count(events, event);
  }
}
