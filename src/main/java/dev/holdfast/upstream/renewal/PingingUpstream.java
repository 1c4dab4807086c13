package dev.holdfast.upstream.renewal;

import dev.holdfast.protocol.Methods;
import dev.holdfast.upstream.ForwardingSession;
import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.ForwardingUpstream;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.OwnRequest;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A server that ends idle sessions. It gets a {@code ping} in each session whose standalone stream
 * is read here, so that it keeps the session. {@linkplain dev.holdfast.upstream.Placement.Pinned
 * Pinned} sessions get none.
 */
public final class PingingUpstream extends ForwardingUpstream {

  private final Set<UpstreamSession> listening = ConcurrentHashMap.newKeySet();
  private final Thread pings;

  /** Sends pings at an interval until {@link #close}. */
  public PingingUpstream(Upstream upstream, Duration interval) {
    super(upstream);
    pings = Thread.ofVirtual().name("pings").start(() -> pingUntilInterrupted(interval));
  }

  private void pingUntilInterrupted(Duration interval) {
    try {
      while (true) {
        Thread.sleep(interval);
        OwnRequest.sendAll(
            listening.stream()
                .map(session -> new OwnRequest(session, Methods.PING, Map.of()))
                .toList());
      }
    } catch (InterruptedException | UpstreamException.Broken closed) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    UpstreamSession session = upstream.attach(link);
    return link.gatewaySession() == null
            || link.isStateless()
            || upstream.placement(link) instanceof Placement.Pinned
        ? session
        : new Session(session);
  }

  @Override
  public void close() {
    pings.interrupt();
    super.close();
  }

  private final class Session extends ForwardingSession {

    Session(UpstreamSession session) {
      super(session);
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      return super.listen(after)
          .map(source -> {
            listening.add(this);
            return new Source(source, this);
          });
    }
  }

  private final class Source extends ForwardingSource {

    private final Session session;

    Source(MessageSource source, Session session) {
      super(source);
      this.session = session;
    }

    @Override
    public List<UpstreamMessage> take() {
      List<UpstreamMessage> messages = untilFailure(source::take);
      if (messages.isEmpty()) {
        listening.remove(session);
      }
      return messages;
    }

    @Override
    public List<UpstreamMessage> takeArrived() {
      return untilFailure(source::takeArrived);
    }

    /** A stream that failed is not always closed. */
    private List<UpstreamMessage> untilFailure(Supplier<List<UpstreamMessage>> take) {
      try {
        return take.get();
      } catch (UpstreamException failure) {
        listening.remove(session);
        throw failure;
      }
    }

    @Override
    public void close() {
      listening.remove(session);
      super.close();
    }
  }
}
