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
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An upstream whose calls, processes and state are measured. A call costs one timer; other messages
 * and events cost nothing.
 */
final class MeasuredUpstream extends ForwardingUpstream {

  private final UpstreamMeters meters;
  private final LongSupplier nanoTime;

  /** Measures an upstream with the metrics of its configured name. */
  MeasuredUpstream(Upstream upstream, UpstreamMeters meters, LongSupplier nanoTime) {
    super(upstream);
    this.meters = meters;
    this.nanoTime = nanoTime;
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new Session(upstream.attach(link));
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    upstream.reopen(link, initialize, initialized);
    meters.respawns.increment();
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
      meters.running.incrementAndGet();
    }

    /** Further calls do nothing. */
    void end() {
      if (open.getAndSet(false)) {
        meters.running.decrementAndGet();
        if (began != null) {
          meters.duration.record(Duration.ofNanos(nanoTime.getAsLong() - began));
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
    public List<UpstreamMessage> takeArrived() {
      return source.takeArrived();
    }

    @Override
    public void close() {
      super.close();
      call.end();
    }
  }
}
