package dev.holdfast.observe;

import dev.holdfast.relay.stream.MessageKind;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.upstream.UpstreamException;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Metrics of the relay on this replica. */
@Singleton
public final class RelayMetrics implements RelayListener {

  private final Counter sessionsOpened;
  private final Counter sessionsEnded;
  private final Timer sessionDuration;
  private final TaggedCounters<MessageKind> fromClients;
  private final TaggedCounters<MessageKind> fromUpstreams;
  private final Counter connectionsTotal;
  private final AtomicInteger connections = new AtomicInteger();
  private final Counter appended;
  private final Timer appendTime;
  private final Counter passed;
  private final Counter delivered;
  private final Timer replayTime;
  private final DistributionSummary replayed;
  private final Counter gaps;
  private final Counter resumedStreams;
  private final Counter lostStreams;
  private final TaggedCounters<UpstreamError> upstreamErrors;

  RelayMetrics(MeterRegistry registry) {
    sessionsOpened = registry.counter("holdfast.sessions.opened");
    sessionsEnded = registry.counter("holdfast.sessions.ended");
    sessionDuration = registry.timer("holdfast.sessions.duration");
    fromClients = messages(registry, "client");
    fromUpstreams = messages(registry, "upstream");
    connectionsTotal = registry.counter("holdfast.connections.opened");
    registry.gauge("holdfast.connections.active", connections);
    appended = registry.counter("holdfast.events.appended");
    appendTime = registry.timer("holdfast.append.time");
    passed = registry.counter("holdfast.events.unlogged");
    delivered = registry.counter("holdfast.events.delivered");
    replayTime = registry.timer("holdfast.replay.time");
    replayed = registry.summary("holdfast.replay.events");
    gaps = registry.counter("holdfast.gaps");
    resumedStreams = registry.counter("holdfast.takeovers", "resumed", "true");
    lostStreams = registry.counter("holdfast.takeovers", "resumed", "false");
    upstreamErrors =
        new TaggedCounters<>(registry, "holdfast.upstream.errors", UpstreamError.class);
  }

  private static TaggedCounters<MessageKind> messages(MeterRegistry registry, String from) {
    return new TaggedCounters<>(registry, "holdfast.messages", MessageKind.class, "from", from);
  }

  @Override
  public void sessionOpened() {
    sessionsOpened.increment();
  }

  @Override
  public void sessionEnded(Duration lived) {
    sessionsEnded.increment();
    sessionDuration.record(lived);
  }

  @Override
  public void fromClient(MessageKind kind) {
    fromClients.increment(kind);
  }

  @Override
  public void fromUpstream(MessageKind kind) {
    fromUpstreams.increment(kind);
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
  public void deliveredUnlogged(int events) {
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
    (resumed ? resumedStreams : lostStreams).increment();
  }

  @Override
  public void upstreamFailed(UpstreamException failure) {
    upstreamErrors.increment(
        switch (failure) {
          case UpstreamException.Unreachable _ -> UpstreamError.UNREACHABLE;
          case UpstreamException.Busy _ -> UpstreamError.BUSY;
          case UpstreamException.TimedOut _ -> UpstreamError.TIMED_OUT;
          case UpstreamException.SessionGone _ -> UpstreamError.SESSION_GONE;
          case UpstreamException.Refused _ -> UpstreamError.REFUSED;
          case UpstreamException.Broken _ -> UpstreamError.BROKEN;
        });
  }

  /** The kinds of upstream failures, as the tag names them. */
  private enum UpstreamError {
    UNREACHABLE,
    BUSY,
    TIMED_OUT,
    SESSION_GONE,
    REFUSED,
    BROKEN
  }
}
