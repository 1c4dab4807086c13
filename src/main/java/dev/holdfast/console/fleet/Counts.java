package dev.holdfast.console.fleet;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Numbers of this replica: as they are now, and since it started.
 *
 * @param openStreams number of streams that it writes
 */
public record Counts(MeterRegistry metrics, IntSupplier openStreams) {

  private static final List<String> NAMES =
      List.of("openStreams", "connections", "heldBack", "resumes", "gaps", "takeOvers");

  /** Returns the numbers now. */
  public JsonObject read() {
    DistributionSummary resumes = metrics.find("holdfast.replay.events").summary();
    return new JsonObject()
        .put("openStreams", openStreams.getAsInt())
        .put("connections", gauge("holdfast.connections.active"))
        .put("heldBack", gauge("holdfast.streams.held.back"))
        .put("resumes", resumes == null ? 0 : resumes.count())
        .put("gaps", count("holdfast.gaps"))
        .put("takeOvers", count("holdfast.takeovers"));
  }

  private long gauge(String name) {
    Gauge gauge = metrics.find(name).gauge();
    return gauge == null ? 0 : (long) gauge.value();
  }

  private long count(String name) {
    return (long) metrics.find(name).counters().stream().mapToDouble(Counter::count).sum();
  }

  /** Adds the numbers of several replicas. */
  static JsonObject sum(List<JsonObject> replicas) {
    JsonObject sum = new JsonObject();
    NAMES.forEach(
        name -> sum.put(name, replicas.stream().mapToLong(each -> each.getLong(name, 0L)).sum()));
    return sum;
  }
}
