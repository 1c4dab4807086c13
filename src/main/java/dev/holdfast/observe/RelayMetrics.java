package dev.holdfast.observe;

import dev.holdfast.relay.RelayListener;
import dev.holdfast.upstream.UpstreamException;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts what the relay does. The figures are those of this replica. */
@Singleton
public final class RelayMetrics implements RelayListener {

  private final MeterRegistry registry;
  private final Counter sessionsOpened;
  private final Counter sessionsEnded;
  private final Counter connectionsTotal;
  private final AtomicInteger connections;
  private final Counter appended;
  private final Timer appendTime;
  private final Counter passed;
  private final Counter delivered;
  private final Timer replayTime;
  private final DistributionSummary replayed;
  private final Counter gaps;

  RelayMetrics(MeterRegistry registry) {
    this.registry = registry;
    sessionsOpened = registry.counter("holdfast.sessions.opened");
    sessionsEnded = registry.counter("holdfast.sessions.ended");
    connectionsTotal = registry.counter("holdfast.connections.opened");
    connections = new AtomicInteger();
    registry.gauge("holdfast.connections.active", connections);
    appended = registry.counter("holdfast.events.appended");
    appendTime = registry.timer("holdfast.append.time");
    passed = registry.counter("holdfast.events.unlogged");
    delivered = registry.counter("holdfast.events.delivered");
    replayTime = registry.timer("holdfast.replay.time");
    replayed = registry.summary("holdfast.replay.events");
    gaps = registry.counter("holdfast.gaps");
  }

  @Override
  public void sessionOpened() {
    sessionsOpened.increment();
  }

  @Override
  public void sessionEnded() {
    sessionsEnded.increment();
  }

  @Override
  public void connectionOpened() {
    connectionsTotal.increment();
    connections.incrementAndGet();
  }

  @Override
  public void connectionClosed() {
    connections.decrementAndGet();
  }

  @Override
  public void appended(int events, Duration took) {
    appended.increment(events);
    appendTime.record(took);
  }

  @Override
  public void passed(int events) {
    passed.increment(events);
  }

  @Override
  public void delivered(int events) {
    delivered.increment(events);
  }

  @Override
  public void replayed(int events, Duration took) {
    replayed.record(events);
    replayTime.record(took);
  }

  @Override
  public void gap() {
    gaps.increment();
  }

  @Override
  public void takenOver(boolean resumed) {
    registry.counter("holdfast.takeovers", "resumed", Boolean.toString(resumed)).increment();
  }

  @Override
  public void upstreamFailed(UpstreamException failure) {
    registry.counter("holdfast.upstream.errors", "kind", kind(failure)).increment();
  }

  private static String kind(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Unreachable _ -> "unreachable";
      case UpstreamException.Busy _ -> "busy";
      case UpstreamException.TimedOut _ -> "timed_out";
      case UpstreamException.SessionGone _ -> "session_gone";
      case UpstreamException.Refused _ -> "refused";
      case UpstreamException.Broken _ -> "broken";
    };
  }
}
