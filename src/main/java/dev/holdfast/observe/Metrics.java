package dev.holdfast.observe;

import dev.holdfast.http.socket.ErrorFilter;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamListener;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.upstream.UpstreamObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.quarkus.runtime.Startup;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Metrics of the relay and of the error responses on this replica. */
@Singleton
@Startup
public final class Metrics implements RelayListener, ErrorFilter.Listener {

  /** The label with the configured name of an upstream. */
  static final String UPSTREAM = "upstream";

  private static final String NO_UPSTREAM = "";

  private final MeterRegistry registry;
  private final Counter sessionsOpened;
  private final Counter sessionsEnded;
  private final Timer sessionDuration;
  private final TaggedCounters<RelayListener.MessageKind> fromClients;
  private final TaggedCounters<RelayListener.MessageKind> fromUpstreams;
  private final Counter connectionsTotal;
  private final AtomicInteger connections = new AtomicInteger();
  private final StreamMeters.Shared ofStreams;
  private final Counter passed;
  private final Counter delivered;
  private final Counter gaps;
  private final Counter resumedStreams;
  private final Counter lostStreams;
  private final TaggedCounters<ErrorKind> errors;

  /** By the configured names of upstreams. */
  private final Map<String, TaggedCounters<UpstreamError>> upstreamErrors =
      new ConcurrentHashMap<>();

  private final Map<String, UpstreamMeters> upstreamMeters = new ConcurrentHashMap<>();
  private final Map<String, StreamMeters> streamMeters = new ConcurrentHashMap<>();

  Metrics(MeterRegistry registry) {
    this.registry = registry;
    sessionsOpened =
        counter(registry, "holdfast.sessions.opened", "Sessions opened on this replica");
    sessionsEnded =
        counter(
            registry,
            "holdfast.sessions.ended",
            "Sessions that this replica ended or found expired");
    sessionDuration =
        Timer.builder("holdfast.session.duration")
            .description("Lifetime of the sessions that ended")
            .register(registry);
    fromClients = messages(registry, "client");
    fromUpstreams = messages(registry, "upstream");
    connectionsTotal =
        counter(
            registry,
            "holdfast.connections.opened",
            "Client connections opened to follow a stream");
    Gauge.builder("holdfast.connections.active", connections::get)
        .description("Open client connections that follow a stream")
        .strongReference(true)
        .register(registry);
    AtomicInteger heldBack = new AtomicInteger();
    ofStreams =
        new StreamMeters.Shared(
            counter(registry, "holdfast.events.appended", "Events written to the log"),
            DistributionSummary.builder("holdfast.replay.events")
                .description("Events that a reconnecting client had missed")
                .register(registry),
            heldBack);
    Gauge.builder("holdfast.streams.held.back", heldBack::get)
        .description("Streams whose server waits for a client that reads slowly")
        .strongReference(true)
        .register(registry);
    passed =
        counter(
            registry,
            "holdfast.events.unlogged",
            "Events delivered without being logged because Redis was away");
    delivered = counter(registry, "holdfast.events.delivered", "Events written to clients");
    gaps = counter(registry, "holdfast.gaps", "Reconnects that asked for purged or lost events");
    resumedStreams = takeOvers(registry, "true");
    lostStreams = takeOvers(registry, "false");
    errors =
        new TaggedCounters<>(
            registry, "holdfast.errors", "Requests answered with an error status", ErrorKind.class);
  }

  private static Counter counter(MeterRegistry registry, String name, String help, String... tags) {
    return Counter.builder(name).description(help).tags(tags).register(registry);
  }

  private static Counter takeOvers(MeterRegistry registry, String resumed) {
    return counter(
        registry,
        "holdfast.takeovers",
        "Streams taken over from lost replicas",
        "resumed",
        resumed);
  }

  private static TaggedCounters<RelayListener.MessageKind> messages(
      MeterRegistry registry, String from) {
    return new TaggedCounters<>(
        registry,
        "holdfast.messages",
        "JSON-RPC messages by sender and kind",
        RelayListener.MessageKind.class,
        "from",
        from);
  }

  /**
   * Measures an upstream with a configured name. Upstreams that have the name one after the other
   * share their metrics.
   *
   * @param processes counts the processes of all upstreams with the name
   */
  public UpstreamObserver ofUpstream(
      String name, UpstreamMonitor monitor, Supplier<Upstream.ProcessCount> processes) {
    TaggedCounters<UpstreamError> _ = errorsOf(name);
    StreamMeters _ = streamMetersOf(name);
    UpstreamMeters meters =
        upstreamMeters.computeIfAbsent(
            name, _ -> new UpstreamMeters(name, registry, monitor, processes, System::nanoTime));
    meters.show();
    return meters;
  }

  /** Removes the gauges of an upstream that was removed. Its counters stay. */
  public void forget(String name) {
    UpstreamMeters meters = upstreamMeters.get(name);
    if (meters != null) {
      meters.hide();
    }
  }

  private TaggedCounters<UpstreamError> errorsOf(String upstream) {
    return upstreamErrors.computeIfAbsent(
        upstream,
        name ->
            new TaggedCounters<>(
                registry,
                "holdfast.upstream.errors",
                "Failures of upstreams that reached a client or a stream",
                UpstreamError.class,
                UPSTREAM,
                name));
  }

  private StreamMeters streamMetersOf(String upstream) {
    return streamMeters.computeIfAbsent(
        upstream, name -> new StreamMeters(registry, name, ofStreams));
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
  public void fromClient(RelayListener.MessageKind kind) {
    fromClients.increment(kind);
  }

  @Override
  public void fromUpstream(RelayListener.MessageKind kind) {
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
  public void deliveredUnlogged(int events) {
    passed.increment(events);
  }

  @Override
  public void delivered(int events) {
    delivered.increment(events);
  }

  /** {@inheritDoc} Those of names that this replica never had share their metrics. */
  @Override
  public StreamListener streamsOf(String upstream) {
    StreamMeters known = streamMeters.get(upstream);
    return known != null ? known : streamMetersOf(NO_UPSTREAM);
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
  public void upstreamFailed(String upstream, UpstreamException failure) {
    errorsOf(upstream)
        .increment(
            switch (failure) {
              case UpstreamException.Unreachable _ -> UpstreamError.UNREACHABLE;
              case UpstreamException.Busy _ -> UpstreamError.BUSY;
              case UpstreamException.TimedOut _ -> UpstreamError.TIMED_OUT;
              case UpstreamException.SessionGone _ -> UpstreamError.SESSION_GONE;
              case UpstreamException.Refused _, UpstreamException.NoToken _ ->
                  UpstreamError.REFUSED;
              case UpstreamException.TooLarge _ -> UpstreamError.TOO_LARGE;
              case UpstreamException.Broken _ -> UpstreamError.BROKEN;
            });
  }

  @Override
  public void answeredWithError(int status) {
    errors.increment(ErrorKind.of(status));
  }

  /** The kinds of upstream failures, as the tag names them. */
  private enum UpstreamError {
    UNREACHABLE,
    BUSY,
    TIMED_OUT,
    SESSION_GONE,
    REFUSED,
    TOO_LARGE,
    BROKEN
  }

  /** The kinds of errors. They are few, even if an upstream answers with unusual statuses. */
  enum ErrorKind {
    /** A malformed request. */
    BAD_REQUEST,
    /** Missing or insufficient credentials. */
    UNAUTHORIZED,
    /** An origin or a host name that is not allowed. */
    FORBIDDEN,
    /** An unknown session or path. */
    NOT_FOUND,
    /** The requested events are purged. */
    PURGED,
    /** A limit per client or session is reached. */
    LIMIT,
    /** The store is unavailable, too many requests are in progress, or the replica drains. */
    UNAVAILABLE,
    /** The upstream is unreachable, too slow, or refuses the gateway. */
    UPSTREAM,
    /** The gateway failed. */
    INTERNAL;

    private static ErrorKind of(int status) {
      return switch (status) {
        case 401 -> UNAUTHORIZED;
        case 403 -> FORBIDDEN;
        case 404 -> NOT_FOUND;
        case 410 -> PURGED;
        case 429 -> LIMIT;
        case 502, 504 -> UPSTREAM;
        case 503 -> UNAVAILABLE;
        default -> status < 500 ? BAD_REQUEST : INTERNAL;
      };
    }
  }

  /**
   * Counters of one name, one for each value of the tag {@code kind}. All are registered at the
   * start, so a scrape also shows counters that are still 0.
   *
   * @param <K> the values; the tag has their names in lower case
   */
  private static final class TaggedCounters<K extends Enum<K>> {

    private final Map<K, Counter> counters;

    TaggedCounters(
        MeterRegistry registry, String name, String help, Class<K> kinds, String... otherTags) {
      counters = new EnumMap<>(kinds);
      for (K kind : kinds.getEnumConstants()) {
        Tags tags = Tags.of(otherTags).and("kind", kind.name().toLowerCase(Locale.ROOT));
        counters.put(kind, Counter.builder(name).description(help).tags(tags).register(registry));
      }
    }

    void increment(K kind) {
      Objects.requireNonNull(counters.get(kind)).increment();
    }
  }

  /** Metrics of the Redis connections. Created only where Redis is the store. */
  @Singleton
  public static final class OfRedis implements RedisClient.Listener {

    private final Timer roundTrips;
    private final Counter failures;

    OfRedis(MeterRegistry registry) {
      roundTrips =
          StreamMeters.histogram(
              registry,
              "holdfast.redis.round.trip",
              "Time from writing a batch of commands to its last reply");
      failures =
          counter(
              registry,
              "holdfast.redis.failures",
              "Batches whose connection ended before the last reply");
    }

    @Override
    public void answered(long nanos) {
      roundTrips.record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void unanswered() {
      failures.increment();
    }
  }
}
