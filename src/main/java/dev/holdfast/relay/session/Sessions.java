package dev.holdfast.relay.session;

import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.legacy.PendingSessions;
import dev.holdfast.relay.routing.PinnedServer;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * The life of sessions: what their store, their log and their upstream have to do with each other.
 */
public final class Sessions {

  private static final Logger LOG = Logger.getLogger(Sessions.class);
  private static final int EXPIRED_AT_ONCE = 100;

  private final SessionStore store;
  private final Map<String, Upstream> upstreams;
  private final Parts parts;
  private final InstantSource clock;
  private final PendingSessions openings;
  private final RecentSessions recent;

  /**
   * Puts the parts together.
   *
   * @param upstreams by name
   * @param idleTimeout after which an unused session expires
   * @param clock tells when a session began
   */
  public Sessions(
      SessionStore store,
      Map<String, Upstream> upstreams,
      Parts parts,
      Duration idleTimeout,
      InstantSource clock) {
    this.store = store;
    this.upstreams = Map.copyOf(upstreams);
    this.parts = parts;
    this.clock = clock;
    this.recent = new RecentSessions(store, idleTimeout.dividedBy(10), this::now);
    this.openings = new PendingSessions(this, store, this.upstreams, parts, this::now);
  }

  /** Sessions that begin before they are initialized. */
  public PendingSessions openings() {
    return openings;
  }

  public void requireKnown(String upstream) {
    if (!upstreams.containsKey(upstream)) {
      throw new RelayException.UnknownUpstream();
    }
  }

  public InitializeReply begin(String upstream, Message.Request request) {
    InitializeRequest asked = InitializeRequest.read(request);
    Upstream server = upstreams.get(upstream);
    if (server == null) {
      throw new RelayException.UnknownUpstream();
    }
    Handshake handshake = server.initialize(request);
    List<byte[]> messages = new ArrayList<>();
    handshake.before().stream().map(UpstreamMessage::payload).forEach(messages::add);
    messages.add(handshake.response());
    UpstreamLink link = handshake.link();
    Session session =
        link == null ? null : record(upstream, asked, link, server.attach(link), request);
    return new InitializeReply(session, messages);
  }

  private Session record(
      String upstream,
      InitializeRequest asked,
      UpstreamLink link,
      UpstreamSession opened,
      Message.Request request) {
    boolean recorded = false;
    try {
      ProtocolVersion version =
          ProtocolVersion.parse(link.protocolVersion())
              .orElseThrow(RelayException.UnsupportedVersion::new);
      Session session =
          new Session(SessionId.random(), upstream, link.session(), version, asked.client(), now());
      store.create(session);
      beginLog(session, request);
      recorded = true;
      recent.began(session);
      parts.listener().sessionOpened();
      return session;
    } finally {
      if (!recorded) {
        // What was opened for nobody is closed again.
        opened.end();
      }
    }
  }

  private void beginLog(Session session, Message.Request request) {
    boolean begun = false;
    try {
      parts.log().begin(session.id().value());
      if (keepsSessions(session)) {
        settleHere(session, request);
      }
      begun = true;
    } finally {
      if (!begun) {
        store.end(session.id());
      }
    }
  }

  /** Its standalone stream is opened at once: who owns that is the home of the session. */
  public void settleHere(Session session, Message.Request request) {
    PinnedServer server = server(session);
    server.opened(request);
    StreamWriter standalone =
        parts.log().open(StreamNames.standalone(session), "", StreamNames.keptIn(session));
    parts.homes().add(standalone, server, false);
  }

  /** The client has said that it is initialized, which a server that is opened anew must hear. */
  public void initialized(Session session) {
    if (keepsSessions(session)) {
      server(session).initialized();
    }
  }

  public Session find(String upstream, SessionId id) {
    Session session = store.find(id).orElseThrow(RelayException.SessionNotFound::new);
    requireUpstream(session, upstream);
    recent.used(session);
    return session;
  }

  /**
   * Finds a session whose life somebody else will check: opening a stream in the log does. What is
   * recorded of an initialized session never changes, so one that was used here a moment ago need
   * not be looked up for that.
   */
  public Session recall(String upstream, SessionId id) {
    Session used = recent.find(id);
    if (used == null) {
      return find(upstream, id);
    }
    requireUpstream(used, upstream);
    return used;
  }

  /** A session that was recalled is no more. */
  public void forget(Session session) {
    recent.forget(session);
  }

  private static void requireUpstream(Session session, String upstream) {
    if (!session.upstream().equals(upstream)) {
      throw new RelayException.SessionNotFound();
    }
  }

  /** Finds a session without using it. */
  public Optional<Session> recorded(SessionId id) {
    return store.find(id);
  }

  /** Notes that a session is in use. */
  public void used(Session session) {
    recent.used(session);
  }

  /** Counts a request of a session; the store hears of it with the next use. */
  public void count(Session session, String address, boolean failed) {
    recent.count(session, address, failed);
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  public UpstreamSession upstream(Session session) {
    return server(session).attach();
  }

  /** Whether what is sent in a session must reach the replica that runs the call. */
  public boolean isResident(Session session) {
    return configured(session).map(Upstream::isResident).orElse(false);
  }

  /** Whether a session lives in one replica, its home. */
  public boolean keepsSessions(Session session) {
    return configured(session)
        .map(server -> server.keepsSessions(PinnedServer.link(session)))
        .orElse(false);
  }

  /** The upstream's side of a session. */
  public PinnedServer server(Session session) {
    if (!upstreams.containsKey(session.upstream())) {
      throw new RelayException.UnknownUpstream();
    }
    return configured(session)
        .map(server -> new PinnedServer(server, session, store))
        .orElseThrow(RelayException.SessionNotFound::new);
  }

  /** The upstream of a session, unless its name was taken away or given to another meanwhile. */
  private Optional<Upstream> configured(Session session) {
    return Optional.ofNullable(upstreams.get(session.upstream()))
        .filter(
            server -> !session.isInitialized() || server.mayHaveOpened(PinnedServer.link(session)));
  }

  public SessionEndReport end(Session session) {
    return store.end(session.id()) ? clear(session) : SessionEndReport.NONE;
  }

  /**
   * Ends a session that its server has ended, of which nobody but a pump has heard: a client that
   * only listens would never be told.
   */
  public void endedByServer(Session session) {
    try {
      end(session);
    } catch (SessionStoreException | StoreUnavailableException away) {
      LOG.warnf("session=%s is left to its next request: %s", session.id(), away.getMessage());
    }
  }

  /** Ends what belongs to a session that is no longer recorded. */
  private SessionEndReport clear(Session session) {
    String id = session.id().value();
    forget(session);
    boolean told;
    try {
      // First the log, which fences the pumps: they have nothing to say any more when they stop.
      parts.log().end(id);
    } finally {
      // Also when the store is away: nobody will come back to a session that is not recorded.
      parts.pumps().stop(id);
      parts.listener().sessionEnded(Duration.between(session.created(), clock.instant()));
      told = endUpstream(session);
    }
    return new SessionEndReport(1, told ? 0 : 1);
  }

  /** False when there is another side that hears nothing of it. */
  private boolean endUpstream(Session session) {
    if (!session.isInitialized()) {
      return true;
    }
    Optional<Upstream> server = configured(session);
    server.ifPresent(found -> found.attach(PinnedServer.link(session)).end());
    return server.isPresent();
  }

  /**
   * One session that cannot be cleared keeps nobody from clearing the others: they were taken with
   * it, and no other sweep will find them.
   */
  private SessionEndReport clearExpired(Session session) {
    try {
      return clear(session);
    } catch (StoreUnavailableException away) {
      LOG.warnf("session=%s its log is left to expire: %s", session.id(), away.getMessage());
    } catch (RuntimeException failure) {
      LOG.warnf(failure, "session=%s has expired, and not all of it could be ended", session.id());
    }
    return new SessionEndReport(1, 0);
  }

  /** Ends the sessions that nobody used for too long. */
  public SessionEndReport endExpired() {
    SessionEndReport ended = SessionEndReport.NONE;
    List<Session> expired;
    do {
      expired = store.endExpired(EXPIRED_AT_ONCE);
      for (Session each : expired) {
        ended = ended.plus(clearExpired(each));
      }
    } while (expired.size() == EXPIRED_AT_ONCE);
    recent.settle();
    return ended;
  }

  /**
   * Stops what still runs here for sessions that have ended: on another replica, of which only the
   * next append would tell; while a stream was being opened; or while their log was away. A server
   * that does not end its streams would otherwise be listened to for ever.
   */
  public void endOrphans() {
    for (String id : parts.pumps().sessions()) {
      if (SessionId.parse(id).flatMap(store::find).isEmpty()) {
        parts.log().end(id);
        parts.pumps().stop(id);
      }
    }
  }
}
