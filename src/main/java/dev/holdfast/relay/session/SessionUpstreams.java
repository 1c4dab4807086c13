package dev.holdfast.relay.session;

import dev.holdfast.protocol.Sender;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamSession;
import java.util.Map;
import java.util.Optional;

/**
 * The configured upstreams, and which of them serves a session. Thread-safe.
 *
 * @param store holds what pinned servers need to be reopened
 */
public record SessionUpstreams(Map<String, Upstream> byName, SessionStore store) {

  /** Copies the map. */
  public SessionUpstreams {
    byName = Map.copyOf(byName);
  }

  /** The upstream of a name; throws {@link RelayException.UnknownUpstream} if there is none. */
  public Upstream named(String name) {
    return Optional.ofNullable(byName.get(name)).orElseThrow(RelayException.UnknownUpstream::new);
  }

  /**
   * The upstream's side of a session, with the headers that the session keeps.
   *
   * @throws RelayException when the upstream that opened the session is no longer configured
   */
  public UpstreamSession attach(Session session) {
    return server(session).attach();
  }

  /**
   * The upstream's side of a session for one message of its client. Throws as above.
   *
   * @param sender who sends it
   */
  public UpstreamSession attach(Session session, Sender sender) {
    return server(session).upstream().attach(PinnedServer.link(session).with(sender));
  }

  /** Whether messages of a session must reach the replica that runs its calls. */
  public boolean runsInProcess(Session session) {
    return of(session).map(Upstream::runsInProcess).orElse(false);
  }

  /** Whether a session is pinned to the replica that opened it. */
  public boolean isPinned(Session session) {
    return of(session).map(upstream -> upstream.isPinned(PinnedServer.link(session))).orElse(false);
  }

  /** Whether a session takes one of few places at its upstream. */
  boolean isScarce(Session session) {
    return session.isInitialized()
        && of(session).map(upstream -> upstream.isScarce(PinnedServer.link(session))).orElse(false);
  }

  /** The server of a pinned session. Throws as {@link #attach} does. */
  public PinnedServer server(Session session) {
    Upstream upstream = named(session.upstream());
    return of(session)
        .map(_ -> new PinnedServer(upstream, session, store))
        .orElseThrow(RelayException.SessionNotFound::new);
  }

  /** Ends the upstream's side of a session; returns false when it is no longer configured. */
  boolean end(Session session) {
    if (!session.isInitialized()) {
      return true;
    }
    Optional<Upstream> upstream = of(session);
    upstream.ifPresent(found -> found.attach(PinnedServer.link(session)).end());
    return upstream.isPresent();
  }

  /** The upstream of a session; empty when its name was removed or given to another upstream. */
  private Optional<Upstream> of(Session session) {
    return Optional.ofNullable(byName.get(session.upstream()))
        .filter(upstream ->
            !session.isInitialized() || upstream.mayHaveOpened(PinnedServer.link(session)));
  }
}
