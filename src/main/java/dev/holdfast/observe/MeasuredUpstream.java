package dev.holdfast.observe;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.upstream.ObservedUpstream;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An upstream whose calls, processes and state are measured. A call costs one timer; other messages
 * and events cost nothing.
 */
final class MeasuredUpstream extends ObservedUpstream {

  private final UpstreamMeters meters;
  private final LongSupplier nanoTime;

  /** Measures an upstream with the metrics of its configured name. */
  MeasuredUpstream(Upstream upstream, UpstreamMeters meters, LongSupplier nanoTime) {
    super(upstream);
    this.meters = meters;
    this.nanoTime = nanoTime;
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    upstream.reopen(link, initialize, initialized);
    meters.respawns.increment();
  }

  /** {@inheritDoc} The duration of a resumed call is not known here. */
  @Override
  protected Operation begin(Kind kind, @Nullable Body body) {
    return switch (kind) {
      case REQUEST ->
          body != null && isCall(body) ? new Call(nanoTime.getAsLong()) : Operation.NONE;
      case RESUME -> new Call(null);
      case INITIALIZE, REOPEN, SEND, LISTEN -> Operation.NONE;
    };
  }

  private static boolean isCall(Body requests) {
    return requests.messages().stream()
        .anyMatch(each ->
            each instanceof Message.Request request && request.method().equals(Methods.TOOLS_CALL));
  }

  /** A call that runs until its end is reported. */
  private final class Call implements Operation {

    private final AtomicBoolean open = new AtomicBoolean(true);
    private final @Nullable Long began;

    /** Begins a call now; {@code began} is the nano time, or null if another replica began it. */
    Call(@Nullable Long began) {
      this.began = began;
      meters.running.incrementAndGet();
    }

    @Override
    public void end() {
      if (open.getAndSet(false)) {
        meters.running.decrementAndGet();
        if (began != null) {
          meters.duration.record(Duration.ofNanos(nanoTime.getAsLong() - began));
        }
      }
    }
  }
}
