package dev.holdfast.observe;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.ForwardingUpstream;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.upstream.UpstreamSession;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * An upstream whose calls, processes and state are measured. A call costs one timer; other messages
 * and events cost nothing.
 */
final class MeasuredUpstream extends ForwardingUpstream {

  /** Upper bounds of the buckets in ms. Calls take from milliseconds to hours. */
  private static final Duration[] BUCKETS =
      LongStream.of(50, 250, 1000, 5000, 30_000, 120_000, 600_000, 3_600_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final AtomicInteger running = new AtomicInteger();
  private final Timer duration;
  private final Counter respawns;
  private final LongSupplier nanoTime;

  /** Registers the metrics of an upstream with a configured name. */
  MeasuredUpstream(
      Upstream upstream,
      String name,
      MeterRegistry registry,
      LongSupplier nanoTime,
      UpstreamMonitor monitor) {
    super(upstream);
    this.nanoTime = nanoTime;
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
    gauge(
        registry,
        name,
        "holdfast.upstream.up",
        "1 while the upstream is up, 0 while it is down",
        () -> monitor.isUp(name) ? 1 : 0);
    gauge(
        registry,
        name,
        "holdfast.calls.in.flight",
        "Tool calls that run at the upstream",
        running::get);
    gauge(
        registry,
        name,
        "holdfast.stdio.processes",
        "Child processes of the upstream, also those that are ending",
        () -> upstream.processes().running());
    gauge(
        registry,
        name,
        "holdfast.stdio.processes.limit",
        "Limit on the child processes of the upstream",
        () -> upstream.processes().limit());
  }

  private static void gauge(
      MeterRegistry registry, String upstream, String name, String help, Supplier<Number> value) {
    Gauge.builder(name, value)
        .description(help)
        .tag(Metrics.UPSTREAM, upstream)
        .strongReference(true)
        .register(registry);
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new Session(upstream.attach(link));
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    upstream.reopen(link, initialize, initialized);
    respawns.increment();
  }

  private static boolean isCall(Body requests) {
    return requests.messages().stream()
        .anyMatch(each ->
            each instanceof Message.Request request && request.method().equals(Methods.TOOLS_CALL));
  }

  private final class Session implements UpstreamSession {

    private final UpstreamSession session;

    Session(UpstreamSession session) {
      this.session = session;
    }

    @Override
    public Answer request(Body requests) {
      if (!isCall(requests)) {
        return session.request(requests);
      }
      Call call = new Call(nanoTime.getAsLong());
      @Nullable Answer answer = null;
      try {
        answer = session.request(requests);
        return answer instanceof Answer.Stream(MessageSource source)
            ? new Answer.Stream(new Source(source, call))
            : answer;
      } finally {
        if (!(answer instanceof Answer.Stream)) {
          call.end();
        }
      }
    }

    @Override
    public void send(Body messages) {
      session.send(messages);
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      return session.listen(after);
    }

    /** {@inheritDoc} The duration of the call is not known here. */
    @Override
    public MessageSource resume(String eventId) {
      return new Source(session.resume(eventId), new Call(null));
    }

    @Override
    public void end() {
      session.end();
    }
  }

  /** A call that runs until its end is reported. */
  private final class Call {

    private final AtomicBoolean open = new AtomicBoolean(true);
    private final @Nullable Long began;

    /** Begins a call now; {@code began} is the nano time, or null if another replica began it. */
    Call(@Nullable Long began) {
      this.began = began;
      running.incrementAndGet();
    }

    /** Further calls do nothing. */
    void end() {
      if (open.getAndSet(false)) {
        running.decrementAndGet();
        if (began != null) {
          duration.record(Duration.ofNanos(nanoTime.getAsLong() - began));
        }
      }
    }
  }

  /** The answer to a call. Its reader closes it at the end in any case. */
  private static final class Source extends ForwardingSource {

    private final Call call;

    Source(MessageSource source, Call call) {
      super(source);
      this.call = call;
    }

    @Override
    public void close() {
      super.close();
      call.end();
    }
  }
}
