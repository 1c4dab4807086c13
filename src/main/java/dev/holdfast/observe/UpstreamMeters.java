package dev.holdfast.observe;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.upstream.UpstreamObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of a configured name of an upstream: calls, processes and state. A call costs one
 * timer; other messages and events cost nothing. Thread-safe.
 */
final class UpstreamMeters extends Meters implements UpstreamObserver {

  /** Upper bounds of the buckets in ms. Calls take from milliseconds to hours. */
  private static final Duration[] BUCKETS =
      LongStream.of(50, 250, 1000, 5000, 30_000, 120_000, 600_000, 3_600_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  /** Calls that run. */
  private final AtomicInteger running = new AtomicInteger();

  private final Timer duration;
  private final Counter respawns;

  private final String name;
  private final UpstreamMonitor monitor;
  private final Supplier<Upstream.ProcessCount> processes;
  private final LongSupplier nanoTime;
  private final AutoLock lock = new AutoLock();

  /** Gauges that are shown. Guarded by the lock. */
  private final List<Gauge> gauges = new ArrayList<>();

  /** Registers the counters. */
  UpstreamMeters(
      String name,
      MeterRegistry registry,
      UpstreamMonitor monitor,
      Supplier<Upstream.ProcessCount> processes,
      LongSupplier nanoTime) {
    super(registry);
    this.name = name;
    this.monitor = monitor;
    this.processes = processes;
    this.nanoTime = nanoTime;
    duration =
        histogram(
            "holdfast.call.duration",
            "Time from a tool call until the end of its answer from the upstream",
            BUCKETS,
            Metrics.UPSTREAM,
            name);
    respawns =
        counter(
            "holdfast.respawns",
            "Sessions that got a new process or connection after they lost theirs",
            Metrics.UPSTREAM,
            name);
  }

  /** Registers the gauges, unless they are shown. */
  void show() {
    try (var _ = lock.hold()) {
      if (!gauges.isEmpty()) {
        return;
      }
      show(
          "holdfast.upstream.up",
          "1 while the upstream is up, 0 while it is down",
          () -> monitor.isUp(name) ? 1 : 0);
      show("holdfast.calls.in.flight", "Tool calls that run at the upstream", running::get);
      show(
          "holdfast.stdio.processes",
          "Child processes of the upstream, also those that are ending",
          () -> processes.get().running());
      show(
          "holdfast.stdio.processes.limit",
          "Limit on the child processes of the upstream",
          () -> processes.get().limit());
    }
  }

  private void show(String gauge, String help, Supplier<Number> value) {
    gauges.add(gauge(gauge, help, value, Metrics.UPSTREAM, name));
  }

  /** Removes the gauges. */
  void hide() {
    try (var _ = lock.hold()) {
      gauges.forEach(registry::remove);
      gauges.clear();
    }
  }

  /** {@inheritDoc} The duration of a resumed call is not known here. */
  @Override
  public Operation begin(Kind kind, @Nullable UpstreamLink link, @Nullable Body body) {
    return switch (kind) {
      case REQUEST ->
          body != null && isCall(body) ? new Call(nanoTime.getAsLong()) : Operation.NONE;
      case RESUME -> new Call(null);
      case REOPEN -> new Reopening();
      case INITIALIZE, SEND, LISTEN, END -> Operation.NONE;
    };
  }

  private static boolean isCall(Body requests) {
    return requests.messages().stream()
        .anyMatch(each ->
            each instanceof Message.Request request && request.method().equals(Methods.TOOLS_CALL));
  }

  private final class Reopening implements Operation {

    @Override
    public void answered(List<UpstreamMessage> messages) {
      respawns.increment();
    }
  }

  /** A call that runs until its end is reported. */
  private final class Call implements Operation {

    private final AtomicBoolean open = new AtomicBoolean(true);
    private final @Nullable Long began;

    /** Begins a call now; {@code began} is the nano time, or null if another replica began it. */
    Call(@Nullable Long began) {
      this.began = began;
      running.incrementAndGet();
    }

    @Override
    public void end() {
      if (open.getAndSet(false)) {
        running.decrementAndGet();
        if (began != null) {
          duration.record(Duration.ofNanos(nanoTime.getAsLong() - began));
        }
      }
    }
  }
}
