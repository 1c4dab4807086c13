package dev.holdfast.observe;

import dev.holdfast.http.socket.ErrorFilter;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamListener;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.upstream.UpstreamObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.quarkus.runtime.Startup;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Metrics of the relay and of the error responses on this replica. */
@Singleton
@Startup
public final class Metrics extends Meters implements RelayListener, ErrorFilter.Listener {

  /** The label with the configured name of an upstream. */
  static final String UPSTREAM = "upstream";

  private static final String NO_UPSTREAM = "";

  private final Counter sessionsOpened =
      counter("holdfast.sessions.opened", "Sessions opened on this replica");
  private final Counter sessionsEnded =
      counter("holdfast.sessions.ended", "Sessions that this replica ended or found expired");
  private final Timer sessionDuration =
      Timer.builder("holdfast.session.duration")
          .description("Lifetime of the sessions that ended")
          .register(registry);
  private final Map<MessageKind, Counter> fromClients = messages("client");
  private final Map<MessageKind, Counter> fromUpstreams = messages("upstream");
  private final Counter connectionsOpened =
      counter("holdfast.connections.opened", "Client connections opened to follow a stream");
  private final AtomicInteger connections =
      level("holdfast.connections.active", "Open client connections that follow a stream");
  private final Counter appended = counter("holdfast.events.appended", "Events written to the log");
  private final DistributionSummary replayed =
      DistributionSummary.builder("holdfast.replay.events")
          .description("Events that a reconnecting client had missed")
          .register(registry);
  private final AtomicInteger heldBack =
      level(
          "holdfast.streams.held.back",
          "Streams whose server waits for a client that reads slowly");
  private final Counter passed =
      counter(
          "holdfast.events.unlogged",
          "Events delivered without being logged because Redis was away");
  private final Counter delivered =
      counter("holdfast.events.delivered", "Events written to clients");
  private final Counter gaps =
      counter("holdfast.gaps", "Reconnects that asked for purged or lost events");
  private final Counter resumedStreams = takeOvers("true");
  private final Counter lostStreams = takeOvers("false");
  private final Map<ErrorKind, Counter> errors =
      counters(ErrorKind.class, "holdfast.errors", "Requests answered with an error status");

  // By the configured names of upstreams.
  private final Map<String, Map<UpstreamError, Counter>> upstreamErrors = new ConcurrentHashMap<>();
  private final Map<String, UpstreamMeters> upstreamMeters = new ConcurrentHashMap<>();
  private final Map<String, OfStreams> streamMeters = new ConcurrentHashMap<>();

  private final CallListener calls;

  Metrics(MeterRegistry registry, CallListener calls) {
    super(registry);
    this.calls = calls;
  }

  @Override
  public CallListener calls() {
    return calls;
  }

  private Counter takeOvers(String resumed) {
    return counter(
        "holdfast.takeovers", "Streams taken over from lost replicas", "resumed", resumed);
  }

  private Map<MessageKind, Counter> messages(String from) {
    return counters(
        MessageKind.class,
        "holdfast.messages",
        "JSON-RPC messages by sender and kind",
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
    Map<UpstreamError, Counter> _ = errorsOf(name);
    OfStreams _ = streamMetersOf(name);
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

  private Map<UpstreamError, Counter> errorsOf(String upstream) {
    return upstreamErrors.computeIfAbsent(
        upstream,
        name ->
            counters(
                UpstreamError.class,
                "holdfast.upstream.errors",
                "Failures of upstreams that reached a client or a stream",
                UPSTREAM,
                name));
  }

  private OfStreams streamMetersOf(String upstream) {
    return streamMeters.computeIfAbsent(upstream, OfStreams::new);
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
    count(fromClients, kind);
  }

  @Override
  public void fromUpstream(MessageKind kind) {
    count(fromUpstreams, kind);
  }

  @Override
  public void connectionOpened() {
    connectionsOpened.increment();
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
    OfStreams known = streamMeters.get(upstream);
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
    UpstreamError kind =
        switch (failure) {
          case UpstreamException.Unreachable _ -> UpstreamError.UNREACHABLE;
          case UpstreamException.Busy _ -> UpstreamError.BUSY;
          case UpstreamException.TimedOut _ -> UpstreamError.TIMED_OUT;
          case UpstreamException.SessionGone _ -> UpstreamError.SESSION_GONE;
          case UpstreamException.Refused _, UpstreamException.NoToken _ -> UpstreamError.REFUSED;
          case UpstreamException.TooLarge _ -> UpstreamError.TOO_LARGE;
          case UpstreamException.Broken _ -> UpstreamError.BROKEN;
        };
    count(errorsOf(upstream), kind);
  }

  @Override
  public void answeredWithError(int status) {
    count(errors, ErrorKind.of(status));
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

  /** The metrics of the streams of one upstream. */
  private final class OfStreams implements StreamListener {

    private final Timer appends;
    private final Timer deliveries;
    private final Timer replays;
    private final Map<Result, Counter> results;

    OfStreams(String upstream) {
      appends =
          histogram(
              "holdfast.append.duration",
              "Duration of one append, including retries",
              UPSTREAM,
              upstream);
      deliveries =
          histogram(
              "holdfast.delivery.delay",
              "Time from the write of an event until the socket of the client took it",
              UPSTREAM,
              upstream);
      replays =
          histogram(
              "holdfast.replay.duration",
              "Time from a reconnect until the client has all missed events",
              UPSTREAM,
              upstream);
      results =
          counters(
              Result.class,
              "holdfast.results",
              "Results that came without a client, and those that a client got later",
              UPSTREAM,
              upstream);
    }

    @Override
    public void appended(int events, Duration took) {
      appended.increment(events);
      appends.record(took);
    }

    @Override
    public void heldBack(boolean waits) {
      heldBack.addAndGet(waits ? 1 : -1);
    }

    @Override
    public void deliveredLive(Duration delay) {
      deliveries.record(delay);
    }

    @Override
    public void result(Result result) {
      count(results, result);
    }

    @Override
    public void replayed(int events, Duration took) {
      replayed.record(events);
      replays.record(took);
    }
  }

  /** Metrics of the Redis connections. Created only where Redis is the store. */
  @Singleton
  public static final class OfRedis extends Meters implements RedisClient.Listener {

    private final Timer roundTrips =
        histogram(
            "holdfast.redis.round.trip", "Time from writing a batch of commands to its last reply");
    private final Counter failures =
        counter("holdfast.redis.failures", "Batches whose connection ended before the last reply");

    OfRedis(MeterRegistry registry) {
      super(registry);
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
