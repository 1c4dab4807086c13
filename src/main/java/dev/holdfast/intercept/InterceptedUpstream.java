package dev.holdfast.intercept;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.intercept.InterceptedMessage.Direction;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.ForwardingUpstream;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;

/** An upstream whose messages pass a chain of interceptors, both ways. Thread-safe. */
public final class InterceptedUpstream extends ForwardingUpstream {

  private final InterceptorChain chain;

  private InterceptedUpstream(
      Upstream upstream, String name, List<Interceptor> interceptors, ByteBudget kept) {
    super(upstream);
    this.chain = new InterceptorChain(name, interceptors, kept);
  }

  /**
   * Puts interceptors before an upstream.
   *
   * @param name the configured name of the upstream
   * @param kept budget of requests that interceptors may see again with their responses
   * @return the upstream itself if there are no interceptors
   */
  public static Upstream of(
      Upstream upstream, String name, List<Interceptor> interceptors, ByteBudget kept) {
    return interceptors.isEmpty()
        ? upstream
        : new InterceptedUpstream(upstream, name, interceptors, kept);
  }

  /** Returns an error, and no session, if the request is refused. */
  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    InterceptorChain.Outcome sent =
        chain.judge(initialize, Direction.TO_SERVER, null, opener, null);
    if (!(sent.message() instanceof Message.Request passed)) {
      return new Handshake(sent.error(), null, List.of());
    }
    Handshake handshake = upstream.initialize(passed, opener);
    if (!(Envelopes.read(handshake.response()) instanceof Body.Single(Message response))) {
      return handshake;
    }
    InterceptorChain.Outcome received =
        chain.judge(response, Direction.TO_CLIENT, null, opener, passed);
    Message result = received.message();
    UpstreamLink link = handshake.link();
    if (link == null) {
      return new Handshake(result == null ? received.error() : result.bytes(), null, List.of());
    }
    InterceptedSession session = new InterceptedSession(chain, null, opener, upstream.attach(link));
    if (result == null) {
      session.end();
      return new Handshake(received.error(), null, List.of());
    }
    return new Handshake(result.bytes(), link, session.judge(handshake.before()));
  }

  /** The server gets the same request as before. */
  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    InterceptorChain.Outcome sent =
        chain.judge(initialize, Direction.TO_SERVER, null, link.sender(), null);
    if (!(sent.message() instanceof Message.Request passed)) {
      throw new UpstreamException.SessionGone();
    }
    upstream.reopen(link, passed, initialized);
  }

  @Override
  public Profile profile() {
    Profile of = upstream.profile();
    return new Profile(
        of.forwardedHeaders(),
        chain.namedScopes(),
        of.takesClientToken(),
        of.needsClientToken(),
        of.canReopen(),
        of.opensSessions());
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new InterceptedSession(
        chain, link.gatewaySession(), link.sender(), upstream.attach(link));
  }
}
