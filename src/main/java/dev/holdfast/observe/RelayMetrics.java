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
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Counts what the relay does. The figures are those of this replica. */
@Singleton
public final class RelayMetrics implements RelayListener {

  private static final String UNREACHABLE = "unreachable";
  private static final String BUSY = "busy";
  private static final String TIMED_OUT = "timed_out";
  private static final String SESSION_GONE = "session_gone";
  private static final String REFUSED = "refused";
  private static final String BROKEN = "broken";

  private final Counter sessionsOpened;
  private final Counter sessionsEnded;
  private final Timer sessionDuration;
  private final Map<MessageKind, Counter> fromClients;
  private final Map<MessageKind, Counter> fromUpstreams;
  private final Counter connectionsTotal;
  private final AtomicInteger connections;
  private final Counter appended;
  private final Timer appendTime;
  private final Counter passed;
  private final Counter delivered;
  private final Timer replayTime;
  private final DistributionSummary replayed;
  private final Counter gaps;
  private final Counter resumptions;
  private final Counter lostCalls;
  private final Map<String, Counter> upstreamErrors;

  RelayMetrics(MeterRegistry registry) {
    sessionsOpened = registry.counter("holdfast.sessions.opened");
    sessionsEnded = registry.counter("holdfast.sessions.ended");
    sessionDuration = registry.timer("holdfast.sessions.duration");
    fromClients = messages(registry, "client");
    fromUpstreams = messages(registry, "upstream");
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
    resumptions = registry.counter("holdfast.takeovers", "resumed", "true");
    lostCalls = registry.counter("holdfast.takeovers", "resumed", "false");
    upstreamErrors =
        Stream.of(UNREACHABLE, BUSY, TIMED_OUT, SESSION_GONE, REFUSED, BROKEN)
            .collect(
                Collectors.toUnmodifiableMap(
                    kind -> kind,
                    kind -> registry.counter("holdfast.upstream.errors", "kind", kind)));
  }

  private static Map<MessageKind, Counter> messages(MeterRegistry registry, String from) {
    Map<MessageKind, Counter> counters = new EnumMap<>(MessageKind.class);
    for (MessageKind kind : MessageKind.values()) {
      String name = kind.name().toLowerCase(Locale.ROOT);
      counters.put(kind, registry.counter("holdfast.messages", "from", from, "kind", name));
    }
    return counters;
  }

  private static void increment(Map<MessageKind, Counter> counters, MessageKind kind) {
    Objects.requireNonNull(counters.get(kind)).increment();
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
    increment(fromClients, kind);
  }

  @Override
  public void fromUpstream(MessageKind kind) {
    increment(fromUpstreams, kind);
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
    (resumed ? resumptions : lostCalls).increment();
  }

  @Override
  public void upstreamFailed(UpstreamException failure) {
    Objects.requireNonNull(upstreamErrors.get(kind(failure))).increment();
  }

  private static String kind(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Unreachable _ -> UNREACHABLE;
      case UpstreamException.Busy _ -> BUSY;
      case UpstreamException.TimedOut _ -> TIMED_OUT;
      case UpstreamException.SessionGone _ -> SESSION_GONE;
      case UpstreamException.Refused _ -> REFUSED;
      case UpstreamException.Broken _ -> BROKEN;
    };
  }
}
