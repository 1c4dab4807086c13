package dev.holdfast.relay.session;

import dev.holdfast.call.Caller;
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
import dev.holdfast.upstream.state.SessionMemory;
import java.util.Set;
import org.jboss.logging.Logger;

/**
 * The server of one session. That of a pinned one is a child process or a connection that lives on
 * one replica. If a lost session can be opened again, its record holds what that needs, for any
 * replica.
 */
public record PinnedServer(Upstream upstream, Session session, SessionStore store) {

  /**
   * The largest {@code initialize} request that the session record holds, in bytes. A session with
   * a larger one works, but ends when its server is lost.
   */
  public static final int MAX_INITIALIZE_BYTES = 64 * 1024;

  private static final Logger LOG = Logger.getLogger(PinnedServer.class);

  private static final String INITIALIZED = "initialized";

  /** Records the {@code initialize} request that opened the server. */
  void recordInitialize(Message.Request initialize) {
    if (!canReopen()) {
      return;
    }
    if (initialize.bytes().length <= MAX_INITIALIZE_BYTES) {
      store.saveUpstreamState(session.id(), SessionMemory.INITIALIZE, initialize.bytes());
    } else {
      LOG.warnf(
          "session cannot be reopened, its initialize request is too large session=%s bytes=%d",
          session.id(), initialize.bytes().length);
    }
  }

  public void recordInitialized() {
    if (canReopen()) {
      store.saveUpstreamState(session.id(), INITIALIZED, new byte[] {1});
    }
  }

  /** The upstream's side of the session, on whichever server it is now. */
  public UpstreamSession attach() {
    return upstream.attach(link(session));
  }

  /** The same for a request of the session's client that has these scopes. */
  public UpstreamSession attach(Set<String> scopes) {
    UpstreamLink link = link(session);
    return upstream.attach(link.with(link.sender().with(scopes)));
  }

  /** Returns true if the server can be reopened after it was lost. */
  public boolean canReopen() {
    return upstream.profile().canReopen();
  }

  /**
   * Opens the server again and initializes it as the client did.
   *
   * @throws UpstreamException when the server does not open; {@link UpstreamException.SessionGone}
   *     when it never will
   */
  public void reopen() {
    byte[] initialize;
    boolean initialized;
    try {
      initialize =
          store
              .upstreamState(session.id(), SessionMemory.INITIALIZE)
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

  static UpstreamLink link(Session session) {
    return new UpstreamLink(
        session.upstreamSession(),
        session.version().wire(),
        session.id().value(),
        Caller.of(session.principal(), session.headers()),
        session.created());
  }
}
