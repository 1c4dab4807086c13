package dev.holdfast.observe;

import dev.holdfast.era.north.EraListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import jakarta.inject.Singleton;
import java.util.Map;

/** Metrics of clients without a session. */
@Singleton
@Startup
public final class EraMeters extends Meters implements EraListener {

  private final Map<Request, Counter> requests =
      counters(
          Request.class,
          "holdfast.stateless.requests",
          "Requests of clients without a session (revision 2026-07-28)");

  private final Map<State, Counter> states =
      counters(
          State.class,
          "holdfast.stateless.states",
          "States that such clients brought back to go on with a request");

  private final Map<Task, Counter> tasks =
      counters(Task.class, "holdfast.stateless.tasks", "Calls that the gateway has made tasks");

  /** Registers the counters. */
  EraMeters(MeterRegistry registry) {
    super(registry);
  }

  @Override
  public void request(Request kind) {
    count(requests, kind);
  }

  @Override
  public void state(State kind) {
    count(states, kind);
  }

  @Override
  public void task(Task kind) {
    count(tasks, kind);
  }
}
