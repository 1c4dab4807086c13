package dev.holdfast.relay.session;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
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
import java.util.Optional;
import org.jboss.logging.Logger;

/** Begins, finds and ends sessions: in the store, in the log and at the upstream. Thread-safe. */
public final class Sessions {

  private static final Logger LOG = Logger.getLogger(Sessions.class);
  private static final int EXPIRED_AT_ONCE = 100;

  /** The part of the idle timeout after which the store hears again that a session is in use. */
  private static final int TOUCHES_PER_IDLE_TIMEOUT = 10;

  private final SessionStore store;
  private final SessionUpstreams upstreams;
  private final EventLog log;
  private final Pumps pumps;
  private final SessionPinner pinner;
  private final RelayListener listener;
  private final InstantSource clock;
  private final RecentSessions recent;

  /**
   * Creates the service.
   *
   * @param pinner pins sessions whose server this replica has opened
   * @param idleTimeout the time after which an unused session expires
   * @param clock gives the time at which a session began
   */
  public Sessions(
      SessionStore store,
      SessionUpstreams upstreams,
      EventLog log,
      Pumps pumps,
      SessionPinner pinner,
      RelayListener listener,
      Duration idleTimeout,
      InstantSource clock) {
    this.store = store;
    this.upstreams = upstreams;
    this.log = log;
    this.pumps = pumps;
    this.pinner = pinner;
    this.listener = listener;
    this.clock = () -> clock.instant().truncatedTo(ChronoUnit.MILLIS);
    this.recent =
        new RecentSessions(store, idleTimeout.dividedBy(TOUCHES_PER_IDLE_TIMEOUT), this.clock);
  }

  /** The current time, in the precision in which sessions record it. */
  public Instant now() {
    return clock.instant();
  }

  /**
   * Sends an {@code initialize} request and records the session that it opens.
   *
   * @throws RelayException.UnknownUpstream when no upstream has the name
   * @throws RelayException.UnsupportedVersion when the upstream chose an unknown version
   */
  public InitializeReply initialize(String upstreamName, Message.Request request) {
    InitializeRequest initialize = InitializeRequest.read(request);
    Upstream upstream = upstreams.named(upstreamName);
    Handshake handshake = upstream.initialize(request);
    List<byte[]> messages = new ArrayList<>();
    handshake.before().stream().map(UpstreamMessage::payload).forEach(messages::add);
    messages.add(handshake.response());
    UpstreamLink link = handshake.link();
    if (link == null) {
      return new InitializeReply(null, messages);
    }
    UpstreamSession opened = upstream.attach(link);
    boolean recorded = false;
    try {
      ProtocolVersion version =
          ProtocolVersion.parse(link.protocolVersion())
              .orElseThrow(RelayException.UnsupportedVersion::new);
      Session session =
          new Session(
              SessionId.random(),
              upstreamName,
              link.session(),
              version,
              initialize.client(),
              now());
      create(session, () -> pinIfNeeded(session, request));
      recorded = true;
      recent.began(session);
      return new InitializeReply(session, messages);
    } finally {
      if (!recorded) {
        opened.end();
      }
    }
  }

  /**
   * Records a session and begins its log. After a failure the session is not recorded.
   *
   * @param openStreams opens the streams with which the session begins
   */
  public void create(Session session, Runnable openStreams) {
    store.create(session);
    boolean begun = false;
    try {
      log.begin(session.id().value());
      openStreams.run();
      begun = true;
    } finally {
      if (!begun) {
        store.end(session.id());
      }
    }
    listener.sessionOpened();
  }

  /**
   * Pins a session if its upstream wants that. Its standalone stream is opened at once: the owner
   * of that stream is the replica to which the session is pinned.
   */
  public void pinIfNeeded(Session session, Message.Request initialize) {
    if (!upstreams.isPinned(session)) {
      return;
    }
    PinnedServer server = upstreams.server(session);
    server.recordInitialize(initialize);
    StreamWriter standalone =
        log.open(StreamNames.standalone(session), "", StreamNames.sharedName(session));
    pinner.pin(standalone, server);
  }

  /** Records that the client sent {@code notifications/initialized}: a reopened server needs it. */
  public void clientInitialized(Session session) {
    if (upstreams.isPinned(session)) {
      upstreams.server(session).recordInitialized();
    }
  }

  /**
   * Finds a session in the store, and notes that it is in use.
   *
   * @throws RelayException.SessionNotFound when the upstream has no such session
   */
  public Session find(String upstream, SessionId id) {
    Session session = store.find(id).orElseThrow(RelayException.SessionNotFound::new);
    requireUpstream(session, upstream);
    recent.used(session);
    return session;
  }

  /**
   * Finds a session, in memory if it was used here recently. The record of an initialized session
   * never changes, but it may have ended: the caller learns that when it opens a stream in the log.
   *
   * @throws RelayException.SessionNotFound when the upstream has no such session
   */
  public Session findRecent(String upstream, SessionId id) {
    Session used = recent.find(id);
    if (used == null) {
      return find(upstream, id);
    }
    requireUpstream(used, upstream);
    return used;
  }

  private static void requireUpstream(Session session, String upstream) {
    if (!session.upstream().equals(upstream)) {
      throw new RelayException.SessionNotFound();
    }
  }

  /** Removes a session that has ended from memory. */
  public void forget(Session session) {
    recent.forget(session);
  }

  /** Finds a session in the store, without noting that it is in use. */
  public Optional<Session> peek(SessionId id) {
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

  /** Ends a session everywhere: in the store, in the log, its pumps, at the upstream. */
  public SessionEndReport end(Session session) {
    return store.end(session.id()) ? clear(session) : SessionEndReport.NONE;
  }

  /**
   * Ends a session that its server has ended. Only a pump learns of that; a client that only
   * listens never would.
   */
  public void endedByServer(Session session) {
    try {
      end(session);
    } catch (SessionStoreException | LogException.StoreUnavailable away) {
      LOG.warnf("session not ended session=%s: %s", session.id(), away.getMessage());
    }
  }

  private SessionEndReport clear(Session session) {
    String id = session.id().value();
    forget(session);
    boolean upstreamTold;
    try {
      // The log first: that fences the pumps, so they write no errors when they stop.
      log.end(id);
    } finally {
      // Also when the store is away: no client can return to a session without a record.
      pumps.stop(id);
      listener.sessionEnded(Duration.between(session.created(), clock.instant()));
      upstreamTold = upstreams.end(session);
    }
    return new SessionEndReport(1, upstreamTold ? 0 : 1);
  }

  /** Ends the sessions that expired. A session that cannot be cleared does not stop the others. */
  public SessionEndReport endExpired() {
    SessionEndReport report = SessionEndReport.NONE;
    List<Session> expired;
    do {
      expired = store.endExpired(EXPIRED_AT_ONCE);
      for (Session session : expired) {
        report = report.plus(clearExpired(session));
      }
    } while (expired.size() == EXPIRED_AT_ONCE);
    recent.flush();
    return report;
  }

  private SessionEndReport clearExpired(Session session) {
    try {
      return clear(session);
    } catch (LogException.StoreUnavailable away) {
      LOG.warnf("log of expired session not ended session=%s: %s", session.id(), away.getMessage());
    } catch (RuntimeException failure) {
      LOG.warnf(failure, "expired session not ended completely session=%s", session.id());
    }
    return new SessionEndReport(1, 0);
  }

  /**
   * Stops the pumps of sessions that no longer exist: another replica ended them, or they ended
   * while a stream was being opened or their log was away. A pump learns that only from its next
   * append, and a silent upstream would keep it for ever.
   */
  public void stopPumpsOfEndedSessions() {
    for (String id : pumps.sessions()) {
      if (SessionId.parse(id).flatMap(store::find).isEmpty()) {
        log.end(id);
        pumps.stop(id);
      }
    }
  }
}
