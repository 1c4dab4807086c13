package dev.holdfast.observe;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamMonitor;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** The metrics of a configured name of an upstream. Thread-safe. */
final class UpstreamMeters {

  /** Upper bounds of the buckets in ms. Calls take from milliseconds to hours. */
  private static final Duration[] BUCKETS =
      LongStream.of(50, 250, 1000, 5000, 30_000, 120_000, 600_000, 3_600_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  /** Calls that run. */
  final AtomicInteger running = new AtomicInteger();

  final Timer duration;
  final Counter respawns;

  private final String name;
  private final MeterRegistry registry;
  private final UpstreamMonitor monitor;
  private final Supplier<Upstream.ProcessCount> processes;
  private final AutoLock lock = new AutoLock();

  /** Those that are shown. Guarded by the lock. */
  private final List<Gauge> gauges = new ArrayList<>();

  /** Registers the counters. */
  UpstreamMeters(
      String name,
      MeterRegistry registry,
      UpstreamMonitor monitor,
      Supplier<Upstream.ProcessCount> processes) {
    this.name = name;
    this.registry = registry;
    this.monitor = monitor;
    this.processes = processes;
    duration =
        Timer.builder("holdfast.call.duration")
            .description("Time from a tool call until the end of its answer from the upstream")
            .tag(Metrics.UPSTREAM, name)
            .serviceLevelObjectives(BUCKETS)
            .register(registry);
    respawns =
        Counter.builder("holdfast.respawns")
            .description("Sessions that got a new process or connection after they lost theirs")
            .tag(Metrics.UPSTREAM, name)
            .register(registry);
  }

  /** Registers the gauges, unless they are shown. */
  void show() {
    try (var _ = lock.hold()) {
      if (!gauges.isEmpty()) {
        return;
      }
      gauge(
          "holdfast.upstream.up",
          "1 while the upstream is up, 0 while it is down",
          () -> monitor.isUp(name) ? 1 : 0);
      gauge("holdfast.calls.in.flight", "Tool calls that run at the upstream", running::get);
      gauge(
          "holdfast.stdio.processes",
          "Child processes of the upstream, also those that are ending",
          () -> processes.get().running());
      gauge(
          "holdfast.stdio.processes.limit",
          "Limit on the child processes of the upstream",
          () -> processes.get().limit());
    }
  }

  private void gauge(String gauge, String help, Supplier<Number> value) {
    gauges.add(
        Gauge.builder(gauge, value)
            .description(help)
            .tag(Metrics.UPSTREAM, name)
            .strongReference(true)
            .register(registry));
  }

  /** Removes the gauges. */
  void hide() {
    try (var _ = lock.hold()) {
      gauges.forEach(registry::remove);
      gauges.clear();
    }
  }
}
