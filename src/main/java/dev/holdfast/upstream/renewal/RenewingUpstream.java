package dev.holdfast.upstream.renewal;

import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.ForwardingUpstream;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.state.SessionMemory;

/**
 * A server that may forget its sessions, as one over Streamable HTTP does when it restarts. A
 * message that it refuses for that reason goes to a session that is opened in place of the
 * forgotten one. Running calls are lost. {@linkplain dev.holdfast.upstream.Placement.Pinned Pinned}
 * sessions are not renewed here.
 */
public final class RenewingUpstream extends ForwardingUpstream {

  private final SessionStore store;
  private final boolean renewsAll;
  private final Renewals renewals;

  /**
   * Renews the sessions of an upstream.
   *
   * @param name its name in log messages
   * @param store keeps what a renewal needs
   * @param renewsAll whether all sessions are renewed, or only those that have several servers
   */
  public RenewingUpstream(Upstream upstream, String name, SessionStore store, boolean renewsAll) {
    super(upstream);
    this.store = store;
    this.renewsAll = renewsAll;
    this.renewals = new Renewals(upstream, name, store);
  }

  @Override
  public Profile profile() {
    Profile of = upstream.profile();
    return renewsAll ? of.reopening() : of;
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    String session = link.session();
    return session == null || !isRenewed(link)
        ? upstream.attach(link)
        : new RenewedSession(
            renewals, link, ServerSession.first(session), SessionMemory.of(store, link));
  }

  private boolean isRenewed(UpstreamLink link) {
    return (renewsAll || !link.member().isEmpty())
        && link.gatewaySession() != null
        && !link.isStateless()
        && !(upstream.placement(link) instanceof Placement.Pinned);
  }
}
