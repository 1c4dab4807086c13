package dev.holdfast.relay.session;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.budget.LogRate;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.Placement;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Finds and ends sessions: in the store, in the log and at the upstream. Thread-safe. */
public final class Sessions {

  private static final Logger LOG = Logger.getLogger(Sessions.class);
  private static final LogRate ENDED = new LogRate(Duration.ofMillis(100));
  private static final LogRate NOT_ENDED = new LogRate(Duration.ofSeconds(1));
  private static final LogRate LOG_NOT_ENDED = new LogRate(Duration.ofSeconds(1));
  private static final int EXPIRED_AT_ONCE = 100;

  /** The part of the idle timeout after which the store is told again that a session is in use. */
  private static final int TOUCHES_PER_IDLE_TIMEOUT = 10;

  /** The recent sessions may take a sixteenth of the heap, each a kilobyte. */
  private static final int BYTES_OF_HEAP_PER_SESSION = 16 * 1024;

  /** Time between two calls of {@link #keep}. */
  public static final Duration KEEP_INTERVAL = AbandonedSessions.TOUCH_INTERVAL;

  private final SessionStore store;
  private final SessionUpstreams upstreams;
  private final EventLog log;
  private final Pumps pumps;
  private final RelayListener listener;
  private final AuditLog audit;
  private final InstantSource clock;
  private final RecentSessions recent;
  private final AbandonedSessions abandoned;

  /**
   * Creates the service.
   *
   * @param idleTimeout the time after which an unused session expires
   */
  public Sessions(
      SessionStore store,
      SessionUpstreams upstreams,
      EventLog log,
      Pumps pumps,
      RelayListener listener,
      AuditLog audit,
      Duration idleTimeout,
      InstantSource clock) {
    this.store = store;
    this.upstreams = upstreams;
    this.log = log;
    this.pumps = pumps;
    this.listener = listener;
    this.audit = audit;
    this.clock = () -> clock.instant().truncatedTo(ChronoUnit.MILLIS);
    Duration requested = idleTimeout.dividedBy(TOUCHES_PER_IDLE_TIMEOUT);
    var usual = new RecentSessions.Intervals(requested, idleTimeout.multipliedBy(2).dividedBy(3));
    Duration often = Collections.min(List.of(requested, AbandonedSessions.TOUCH_INTERVAL));
    var scarce = new RecentSessions.Intervals(often, often);
    this.recent =
        new RecentSessions(
            store,
            session -> upstreams.isScarce(session) ? scarce : usual,
            Runtime.getRuntime().maxMemory() / BYTES_OF_HEAP_PER_SESSION,
            this.clock);
    this.abandoned =
        new AbandonedSessions(
            this::known,
            store,
            upstreams,
            pumps,
            this.clock,
            session -> end(session, "abandoned").sessions() > 0);
  }

  /**
   * The result of ending sessions.
   *
   * @param sessions the sessions that this replica ended; those that others ended do not count
   * @param upstreamsNotTold those of them whose upstream is not configured here
   */
  public record EndReport(long sessions, long upstreamsNotTold) {
    /** No session was ended. */
    public static final EndReport NONE = new EndReport(0, 0);

    /** The sum of two reports. */
    public EndReport plus(EndReport other) {
      return new EndReport(sessions + other.sessions, upstreamsNotTold + other.upstreamsNotTold);
    }
  }

  /** Keeps a session that has just been opened in memory. */
  void began(Session session) {
    recent.began(session);
  }

  /** Ends an abandoned session as {@link AbandonedSessions#makeRoom} does. */
  Duration makeRoom(Predicate<Session> which) {
    return abandoned.makeRoom(which);
  }

  /**
   * Finds a session in the store, and notes that it is in use.
   *
   * @throws RelayException.SessionNotFound when the upstream has no such session over that
   *     transport, or it belongs to somebody else
   */
  public Session find(String upstream, Conversation.InSession named, Principal principal) {
    SessionId id = named.id();
    Session session =
        store
            .find(id)
            .orElseThrow(() -> new RelayException.SessionNotFound(id, "ended or never opened"));
    if (!matches(session, upstream, named, principal)) {
      boolean foreign = !session.principal().equals(principal);
      if (foreign) {
        audit.sessionDenied(principal, session);
      }
      throw new RelayException.SessionNotFound(
          id, foreign ? "of another principal" : "of another path or transport");
    }
    recent.used(session);
    return session;
  }

  /**
   * Finds a session, in memory if it was used here recently. The record of an initialized session
   * never changes, but it may have ended: the caller learns that when it opens a stream in the log.
   * Throws as {@link #find} does.
   */
  public Session findRecent(String upstream, Conversation.InSession named, Principal principal) {
    Session used = recent.find(named.id());
    // A refusal takes as long as that of an unknown session, so that it does not tell them apart.
    return used != null && matches(used, upstream, named, principal)
        ? used
        : find(upstream, named, principal);
  }

  /**
   * Checks for a session before the body of its request is read. While the store is away, this
   * passes: the error of the later step names the id of the request.
   */
  public void require(String upstream, Conversation.InSession named, Principal principal) {
    try {
      Session _ = findRecent(upstream, named, principal);
    } catch (SessionStoreException away) {
      LOG.debugf("session not checked before its body: %s", away.getMessage());
    }
  }

  private static boolean matches(
      Session session, String upstream, Conversation.InSession named, Principal principal) {
    return session.upstream().equals(upstream)
        && session.hasOneStream() == named instanceof Conversation.Sse
        && session.principal().equals(principal);
  }

  /** Removes a session that has ended from memory. */
  public void forget(Session session) {
    recent.forget(session);
  }

  /** Finds a session that was used here recently, in memory; null if it was not. */
  public @Nullable Session recent(SessionId id) {
    return recent.find(id);
  }

  /** Finds a session in memory, or else in the store. It may have ended. */
  private Optional<Session> known(SessionId id) {
    Session known = recent.known(id);
    return known == null ? store.find(id) : Optional.of(known);
  }

  /** Finds a session in the store, without noting that it is in use. */
  public Optional<Session> peek(SessionId id) {
    return store.find(id);
  }

  /** Returns true if the server of a session may keep something for it. */
  public boolean isStateful(Session session) {
    return session.version().hasSessions()
        && switch (upstreams.placement(session)) {
          case Placement.Pinned _ -> true;
          case Placement.InProcess place -> place.keeps() && session.upstreamSession() != null;
          case Placement.Anywhere _ -> session.upstreamSession() != null;
        };
  }

  /**
   * Notes that sessions are in use: those with a connected client, and those with an open request.
   * To be called at least every {@link #KEEP_INTERVAL}.
   *
   * @param connected the sessions whose clients are connected to this replica
   */
  public void keep(Collection<LogKey> connected) {
    recent.keep(
        Stream.concat(connected.stream(), pumps.sessions().stream().filter(pumps::areAnswering))
            .flatMap(key -> SessionId.parse(key.value()).stream())
            .collect(Collectors.toSet()));
  }

  /** Counts a request of a session. The store gets the count with the next use. */
  public void count(Session session, String address, boolean failed) {
    recent.count(session, address, failed);
  }

  /** Ends a session everywhere: in the store, in the log, its pumps, at the upstream. */
  public EndReport end(Session session) {
    return end(session, "ended by its client");
  }

  /** Ends a session everywhere; {@code cause} is for the audit log. */
  EndReport end(Session session, String cause) {
    prepareEnd(session);
    return store.end(session.id()) ? clear(session, cause) : EndReport.NONE;
  }

  /** Without this, the upstream may end less at its server. */
  private void prepareEnd(Session session) {
    try {
      upstreams.prepareEnd(session);
    } catch (RuntimeException failure) {
      LOG.debugf(failure, "end not prepared session=%s", session.id());
    }
  }

  /**
   * Ends a session that its server has ended. Only a pump learns of that; a client that only
   * listens never would.
   */
  public void endedByServer(Session session) {
    try {
      end(session, "lost by its server");
    } catch (SessionStoreException | LogException.StoreUnavailable away) {
      NOT_ENDED.warn(
          LOG, "session not ended session=%s reason=%s", session.id(), away.getMessage());
    }
  }

  /** Notes that a client has resumed a stream, so that its session is not abandoned. */
  public void resumed(Session session) {
    abandoned.resumed(session);
  }

  /**
   * Ends the sessions of this replica that take one of few places and that no client has used for
   * that time.
   */
  public void endAbandoned(Duration timeout) {
    abandoned.endAfter(timeout);
  }

  private EndReport clear(Session session, String cause) {
    LogKey key = StreamNames.key(session.id());
    forget(session);
    boolean upstreamTold;
    try {
      // The log first: that fences the pumps, so they write no errors when they stop.
      log.end(key);
    } finally {
      // Also when the store is away: no client can return to a session without a record.
      pumps.stop(key);
      listener.sessionEnded(Duration.between(session.created(), clock.instant()));
      upstreamTold = upstreams.end(session);
    }
    audit.sessionEnded(session, cause);
    ENDED.info(
        LOG,
        "session ended session=%s upstream=%s cause=%s",
        session.id(),
        session.upstream(),
        cause);
    return new EndReport(1, upstreamTold ? 0 : 1);
  }

  /** Ends the sessions that expired. A session that cannot be cleared does not stop the others. */
  public EndReport endExpired() {
    EndReport report = EndReport.NONE;
    List<Session> expired;
    do {
      expired = store.endExpired(EXPIRED_AT_ONCE);
      report = expired.stream().map(this::clearExpired).reduce(report, EndReport::plus);
    } while (!expired.isEmpty());
    recent.flush();
    return report;
  }

  private EndReport clearExpired(Session session) {
    try {
      return clear(session, "expired");
    } catch (LogException.StoreUnavailable away) {
      LOG_NOT_ENDED.warn(
          LOG,
          "log of expired session not ended session=%s reason=%s",
          session.id(),
          away.getMessage());
    } catch (Throwable failure) {
      LOG.warnf(failure, "expired session not ended completely session=%s", session.id());
    }
    return new EndReport(1, 0);
  }

  /**
   * Stops the pumps of sessions that no longer exist: another replica ended them, or they ended
   * while a stream was being opened or their log was away. A pump learns that only from its next
   * append, and a silent upstream would keep it for ever.
   */
  public void stopPumpsOfEndedSessions(Predicate<LogKey> which) {
    for (LogKey key : pumps.sessions()) {
      if (which.test(key) && SessionId.parse(key.value()).flatMap(store::find).isEmpty()) {
        log.end(key);
        pumps.stop(key);
      }
    }
  }
}
