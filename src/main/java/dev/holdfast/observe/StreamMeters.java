package dev.holdfast.observe;

import dev.holdfast.relay.stream.StreamListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/** The metrics of the streams of one upstream. Thread-safe. */
final class StreamMeters implements StreamListener {

  private final Shared shared;
  private final Timer appends;
  private final Timer deliveries;
  private final Timer replays;

  /** What the streams of all upstreams count. */
  record Shared(Counter appended, DistributionSummary replayed) {}

  /** Registers the histograms; {@code upstream} is its configured name. */
  StreamMeters(MeterRegistry registry, String upstream, Shared shared) {
    this.shared = shared;
    appends =
        histogram(
            registry,
            "holdfast.append.duration",
            "Duration of one append, including retries",
            upstream);
    deliveries =
        histogram(
            registry,
            "holdfast.delivery.delay",
            "Time from the write of an event until the socket of the client took it",
            upstream);
    replays =
        histogram(
            registry,
            "holdfast.replay.duration",
            "Time from a reconnect until the client has all missed events",
            upstream);
  }

  private static Timer histogram(
      MeterRegistry registry, String name, String help, String upstream) {
    return Metrics.histogram(registry, name, help, Metrics.UPSTREAM, upstream);
  }

  @Override
  public void appended(int events, Duration took) {
    shared.appended().increment(events);
    appends.record(took);
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
