package dev.holdfast.relay.session;

import dev.holdfast.call.Caller;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.Upstreams;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The upstreams of sessions. Thread-safe.
 *
 * @param configured the upstreams; may change while the gateway runs
 * @param store holds what pinned servers need to be reopened
 */
public record SessionUpstreams(Upstreams configured, SessionStore store) {

  /** The upstream of a name; throws {@link RelayException.UnknownUpstream} if there is none. */
  public Upstream named(String name) {
    return configured.find(name).orElseThrow(RelayException.UnknownUpstream::new);
  }

  /**
   * The upstream of a name for a new session.
   *
   * @throws RelayException.UnknownUpstream if there is none, or it was removed
   */
  Upstream forNewSession(String name) {
    Upstream upstream = named(name);
    if (!upstream.profile().opensSessions()) {
      throw new RelayException.UnknownUpstream();
    }
    return upstream;
  }

  /**
   * The links of all sessions of some upstreams, by their names, and of sessions that use them,
   * such as those of one endpoint for many servers. Reads the whole store.
   */
  public Map<String, List<UpstreamLink>> links(Set<String> names) {
    Map<String, List<UpstreamLink>> links = new HashMap<>();
    names.forEach(name -> links.put(name, new ArrayList<>()));
    Optional<String> from = Optional.empty();
    do {
      SessionStore.Page page = store.list(from.orElse(null), SessionStore.MAX_PAGE_SIZE);
      for (SessionStore.Page.Entry entry : page.entries()) {
        UpstreamLink link = PinnedServer.link(entry.session());
        add(links, entry.session().upstream(), link);
        of(entry.session())
            .map(upstream -> upstream.members(link))
            .orElse(Map.of())
            .forEach((name, member) -> add(links, name, member));
      }
      from = page.next();
    } while (from.isPresent());
    return links;
  }

  private static void add(Map<String, List<UpstreamLink>> links, String name, UpstreamLink link) {
    List<UpstreamLink> found = links.get(name);
    if (found != null) {
      found.add(link);
    }
  }

  /**
   * The upstream's side of a session, with the headers that the session keeps.
   *
   * @throws RelayException when the upstream that opened the session is no longer configured
   */
  public UpstreamSession attach(Session session) {
    return server(session).attach();
  }

  /** The upstream's side of a session for one message of its client. Throws as above. */
  public UpstreamSession attach(Session session, Caller sender) {
    return server(session).upstream().attach(PinnedServer.link(session).with(sender));
  }

  /** Returns true if messages of a session must reach the replica that runs its calls. */
  public boolean runsInProcess(Session session) {
    return placement(session) instanceof Placement.InProcess;
  }

  /** Returns true if the server of a session sends nothing outside of requests. */
  public boolean isSilent(Session session) {
    return placement(session) instanceof Placement.InProcess(_, _, var silent) && silent;
  }

  /** Returns true if a session is pinned to the replica that opened it. */
  public boolean isPinned(Session session) {
    return placement(session) instanceof Placement.Pinned;
  }

  /** Returns true if a session takes one of few places at its upstream. */
  boolean isScarce(Session session) {
    return session.isInitialized()
        && placement(session) instanceof Placement.Pinned(_, var scarce, _)
        && scarce;
  }

  /** The place of a session: any, when its upstream is no longer configured. */
  Placement placement(Session session) {
    return of(session)
        .map(upstream -> upstream.placement(PinnedServer.link(session)))
        .orElse(Placement.LOCAL);
  }

  /** The server of a pinned session. Throws as {@link #attach} does. */
  public PinnedServer server(Session session) {
    Upstream upstream = named(session.upstream());
    return of(session)
        .map(_ -> new PinnedServer(upstream, session, store))
        .orElseThrow(
            () -> new RelayException.SessionNotFound(session.id(), "server no longer configured"));
  }

  /** Prepares {@link #end} while the session is still recorded. */
  void prepareEnd(Session session) {
    if (session.isInitialized()) {
      of(session).ifPresent(found -> found.attach(PinnedServer.link(session)).prepareEnd());
    }
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
    return configured
        .find(session.upstream())
        .filter(upstream ->
            !session.isInitialized() || upstream.mayHaveOpened(PinnedServer.link(session)));
  }
}
