package dev.holdfast.relay.routing;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import org.jboss.logging.Logger;

/**
 * The server's side of a session that has a home. If it can be opened anew, what that takes is kept
 * with the session, for whichever replica is the next home.
 */
public record PinnedServer(Upstream upstream, Session session, SessionStore store)
    implements PinnedSession.Server {

  /**
   * The largest {@code initialize} that is kept, in bytes. It stays for as long as the session does
   * and costs a client nothing; one that says more, such as icons as data, gets its session all the
   * same, which ends when it is lost.
   */
  static final int MOST_KEPT = 64 * 1024;

  private static final Logger LOG = Logger.getLogger(PinnedServer.class);

  private static final String INITIALIZE = "initialize";
  private static final String INITIALIZED = "initialized";

  /** The session was opened. */
  public void opened(Message.Request initialize) {
    if (!reopens()) {
      return;
    }
    if (initialize.bytes().length <= MOST_KEPT) {
      store.saveUpstreamState(session.id(), INITIALIZE, initialize.bytes());
    } else {
      LOG.warnf(
          "session=%s cannot be opened anew when it is lost: bytes=%d of initialize are too many",
          session.id(), initialize.bytes().length);
    }
  }

  /** The client has said that it is initialized. */
  public void initialized() {
    if (reopens()) {
      store.saveUpstreamState(session.id(), INITIALIZED, new byte[] {1});
    }
  }

  @Override
  public UpstreamSession attach() {
    return upstream.attach(link(session));
  }

  @Override
  public boolean reopens() {
    return upstream.reopens();
  }

  @Override
  public void reopen() {
    byte[] initialize;
    boolean initialized;
    try {
      initialize =
          store
              .upstreamState(session.id(), INITIALIZE)
              .orElseThrow(UpstreamException.SessionGone::new);
      initialized = store.upstreamState(session.id(), INITIALIZED).isPresent();
    } catch (SessionStoreException away) {
      throw new UpstreamException.Unreachable(away);
    }
    if (!(Envelopes.read(initialize) instanceof Body.Single(Message.Request request))) {
      throw new UpstreamException.SessionGone();
    }
    upstream.reopen(link(session), request, initialized);
  }

  /** What it takes to speak in a session. */
  public static UpstreamLink link(Session session) {
    return new UpstreamLink(session.upstreamSession(), session.version().wire());
  }
}
