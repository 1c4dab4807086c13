package dev.holdfast.console.fleet;

import dev.holdfast.lock.AutoLock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Figures of this replica over the last hour, from its own metrics. Thread-safe. */
public final class History {

  /** Time between two samples. */
  public static final Duration STEP = Duration.ofSeconds(20);

  /** Samples of an hour. */
  static final int MOST = 180;

  private static final long MEGABYTE = 1 << 20;

  private final MeterRegistry metrics;
  private final InstantSource clock;
  private final AutoLock lock = new AutoLock();

  // Guarded by the lock.
  private final ArrayDeque<JsonObject> samples = new ArrayDeque<>();
  private long taken;

  private Totals before = new Totals(0, 0, 0, 0, 0, Map.of());

  /**
   * Totals since the start.
   *
   * @param buckets number of calls by the upper bound of their duration in seconds, each with those
   *     of the smaller ones
   */
  private record Totals(
      long calls, long events, long resumes, long gaps, long errors, Map<Double, Long> buckets) {}

  /** Creates an empty history. */
  public History(MeterRegistry metrics, InstantSource clock) {
    this.metrics = metrics;
    this.clock = clock;
  }

  /** Takes a sample. The first one only has the totals from which the next one counts. */
  public void sample() {
    Totals now = totals();
    Runtime memory = Runtime.getRuntime();
    try (var _ = lock.hold()) {
      JsonArray durations = new JsonArray();
      now.buckets()
          .forEach((bound, count) -> {
            long calls = count - before.buckets().getOrDefault(bound, 0L);
            if (calls > 0) {
              durations.add(new JsonArray().add(bound).add(calls));
            }
          });
      samples.add(
          new JsonObject()
              .put("millis", clock.millis())
              .put("calls", now.calls() - before.calls())
              .put("events", now.events() - before.events())
              .put("resumes", now.resumes() - before.resumes())
              .put("gaps", now.gaps() - before.gaps())
              .put("errors", now.errors() - before.errors())
              .put("connections", gauge("holdfast.connections.active"))
              .put("memory", (memory.totalMemory() - memory.freeMemory()) / MEGABYTE)
              .put("durations", durations));
      if (samples.size() > MOST) {
        JsonObject _ = samples.remove();
      }
      before = now;
      taken++;
    }
  }

  private Totals totals() {
    Collection<Timer> calls = metrics.find("holdfast.call.duration").timers();
    Map<Double, Long> buckets = new TreeMap<>();
    for (Timer timer : calls) {
      for (CountAtBucket bucket : timer.takeSnapshot().histogramCounts()) {
        long count = (long) bucket.count();
        long _ = buckets.merge(bucket.bucket(TimeUnit.SECONDS), count, Long::sum);
      }
    }
    DistributionSummary resumes = metrics.find("holdfast.replay.events").summary();
    return new Totals(
        calls.stream().mapToLong(Timer::count).sum(),
        count("holdfast.events.appended"),
        resumes == null ? 0 : resumes.count(),
        count("holdfast.gaps"),
        count("holdfast.upstream.errors"),
        buckets);
  }

  private long count(String name) {
    return (long) metrics.find(name).counters().stream().mapToDouble(Counter::count).sum();
  }

  private long gauge(String name) {
    Gauge gauge = metrics.find(name).gauge();
    return gauge == null ? 0 : (long) gauge.value();
  }

  /** The number of samples so far. */
  public long taken() {
    try (var _ = lock.hold()) {
      return taken;
    }
  }

  /** The samples, the oldest first. */
  public JsonArray samples() {
    try (var _ = lock.hold()) {
      return new JsonArray(samples.stream().map(JsonObject::copy).toList());
    }
  }
}
