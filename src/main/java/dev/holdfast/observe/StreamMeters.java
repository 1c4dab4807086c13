package dev.holdfast.observe;

import dev.holdfast.relay.stream.StreamListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** The metrics of the streams of one upstream. Thread-safe. */
final class StreamMeters implements StreamListener {

  /**
   * Upper bounds of the buckets of histograms. Each costs one series per timer and replica, so
   * there are few: quantiles are exact enough to tell 5 ms from 25 ms.
   */
  private static final Duration[] BUCKETS =
      IntStream.of(1, 5, 10, 25, 50, 100, 250, 1000, 5000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final Shared shared;
  private final Timer appends;
  private final Timer deliveries;
  private final Timer replays;

  /** What the streams of all upstreams count. */
  record Shared(Counter appended, DistributionSummary replayed, AtomicInteger heldBack) {}

  /** Registers the histograms; {@code upstream} is its configured name. */
  StreamMeters(MeterRegistry registry, String upstream, Shared shared) {
    this.shared = shared;
    appends =
        histogram(
            registry,
            "holdfast.append.duration",
            "Duration of one append, including retries",
            Metrics.UPSTREAM,
            upstream);
    deliveries =
        histogram(
            registry,
            "holdfast.delivery.delay",
            "Time from the write of an event until the socket of the client took it",
            Metrics.UPSTREAM,
            upstream);
    replays =
        histogram(
            registry,
            "holdfast.replay.duration",
            "Time from a reconnect until the client has all missed events",
            Metrics.UPSTREAM,
            upstream);
  }

  /** Registers a histogram of times with the buckets of this program. */
  static Timer histogram(MeterRegistry registry, String name, String help, String... tags) {
    return Timer.builder(name)
        .description(help)
        .tags(tags)
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  @Override
  public void appended(int events, Duration took) {
    shared.appended().increment(events);
    appends.record(took);
  }

  @Override
  public void heldBack(boolean waits) {
    shared.heldBack().addAndGet(waits ? 1 : -1);
  }

  @Override
  public void deliveredLive(Duration delay) {
    deliveries.record(delay);
  }

  @Override
  public void replayed(int events, Duration took) {
    shared.replayed().record(events);
    replays.record(took);
  }
}
