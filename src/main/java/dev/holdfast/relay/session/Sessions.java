package dev.holdfast.relay.session;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.budget.LogRate;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Opener;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.protocol.Sender;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.PrincipalId;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.session.TooManySessionsException;
import dev.holdfast.session.Transport;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Begins, finds and ends sessions: in the store, in the log and at the upstream. Thread-safe. */
public final class Sessions {

  private static final Logger LOG = Logger.getLogger(Sessions.class);
  private static final LogRate OPENED = new LogRate(Duration.ofMillis(100));
  private static final LogRate ENDED = new LogRate(Duration.ofMillis(100));
  private static final LogRate NOT_ENDED = new LogRate(Duration.ofSeconds(1));
  private static final LogRate LOG_NOT_ENDED = new LogRate(Duration.ofSeconds(1));
  private static final int EXPIRED_AT_ONCE = 100;

  /** The part of the idle timeout after which the store is told again that a session is in use. */
  private static final int TOUCHES_PER_IDLE_TIMEOUT = 10;

  /** How long a new session waits for the end of one that makes room. */
  private static final Duration ROOM_TIMEOUT = Duration.ofSeconds(5);

  private static final Duration ROOM_INTERVAL = Duration.ofMillis(20);

  private static final String REFUSED = "the upstream refused it";

  private final SessionStore store;
  private final SessionUpstreams upstreams;
  private final EventLog log;
  private final Pumps pumps;
  private final BiConsumer<StreamWriter, PinnedServer> pinner;
  private final RelayListener listener;
  private final AuditLog audit;
  private final KnownClients clients;
  private final InstantSource clock;
  private final RecentSessions recent;
  private final AbandonedSessions abandoned;

  /**
   * Creates the service.
   *
   * @param pinner pins sessions whose server this replica has opened; gets the writer of the
   *     session's standalone stream
   * @param idleTimeout the time after which an unused session expires
   */
  public Sessions(
      SessionStore store,
      SessionUpstreams upstreams,
      EventLog log,
      Pumps pumps,
      BiConsumer<StreamWriter, PinnedServer> pinner,
      RelayListener listener,
      AuditLog audit,
      KnownClients clients,
      Duration idleTimeout,
      InstantSource clock) {
    this.store = store;
    this.upstreams = upstreams;
    this.log = log;
    this.pumps = pumps;
    this.pinner = pinner;
    this.listener = listener;
    this.audit = audit;
    this.clients = clients;
    this.clock = () -> clock.instant().truncatedTo(ChronoUnit.MILLIS);
    Duration usual = idleTimeout.dividedBy(TOUCHES_PER_IDLE_TIMEOUT);
    Duration scarce = Collections.min(List.of(usual, AbandonedSessions.TOUCH_INTERVAL));
    this.recent =
        new RecentSessions(
            store, session -> upstreams.isScarce(session) ? scarce : usual, this.clock);
    this.abandoned =
        new AbandonedSessions(
            store,
            upstreams,
            pumps,
            this.clock,
            recent::used,
            session -> end(session, "abandoned").sessions() > 0);
  }

  /**
   * The answer to {@code initialize}.
   *
   * @param session the new session; null when the upstream refused to open one
   * @param messages the messages of the upstream; the response is the last and usually the only one
   */
  public record InitializeReply(@Nullable Session session, List<byte[]> messages) {}

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

  /** Begins a session that its client initializes later, over HTTP with SSE. */
  public Session open(String upstreamName, Opener opener, PrincipalId principal) {
    Upstream _ = upstreams.forNewSession(upstreamName);
    Session session =
        Session.opening(
            SessionId.random(),
            upstreamName,
            clock.instant(),
            opener.client(),
            principal,
            opener.userAgent());
    try {
      create(session, () -> log.openShared(StreamNames.shared(session)));
    } catch (RuntimeException failure) {
      audit.sessionRefused(principal, null, opener.address(), upstreamName, reason(failure));
      throw failure;
    }
    audit.sessionOpened(session, opener.address());
    return session;
  }

  /**
   * Sends an {@code initialize} request and records the session that it opens.
   *
   * @param principal whom the session will belong to
   * @throws RelayException.UnknownUpstream when no upstream has the name
   * @throws RelayException.UnsupportedVersion when the upstream chose an unknown version
   */
  public InitializeReply initialize(
      String upstreamName, Message.Request request, Opener opener, PrincipalId principal) {
    String client = InitializeRequest.read(request).client();
    return audited(
        principal,
        client,
        opener.address(),
        upstreamName,
        () -> initialize(upstreamName, opener, request, client, principal));
  }

  private InitializeReply initialize(
      String upstreamName,
      Opener opener,
      Message.Request request,
      String client,
      PrincipalId principal) {
    return initialize(
        upstreamName,
        opener,
        request,
        (link, version) -> {
          SessionId id = SessionId.random();
          Session session =
              new Session(
                  id,
                  upstreamName,
                  link.session(),
                  version,
                  client,
                  opened(link),
                  Transport.STREAMABLE,
                  opener.client(),
                  link.headers(),
                  principal,
                  opener.userAgent());
          create(session, () -> pinIfNeeded(session, request));
          recent.began(session);
          audit.sessionOpened(session, opener.address());
          return session;
        });
  }

  private InitializeReply audited(
      PrincipalId principal,
      String client,
      String address,
      String upstreamName,
      Supplier<InitializeReply> initialize) {
    try {
      InitializeReply reply = initialize.get();
      if (reply.session() == null) {
        audit.sessionRefused(principal, client, address, upstreamName, REFUSED);
      }
      return reply;
    } catch (RuntimeException failure) {
      audit.sessionRefused(principal, client, address, upstreamName, reason(failure));
      throw failure;
    }
  }

  /** What the audit log says of a failure. The text of an upstream may have secrets. */
  private static String reason(RuntimeException failure) {
    return switch (failure) {
      case TooManySessionsException _ -> "there are too many sessions";
      case UpstreamException.Busy _ -> "the upstream has no room";
      case UpstreamException _ -> "the upstream failed";
      case SessionStoreException _ -> "the store is away";
      case LogException _ -> "the store is away";
      case RelayException.UnsupportedVersion _ -> "the upstream chose an unknown version";
      default -> "the gateway failed";
    };
  }

  /**
   * Sends the {@code initialize} request of a session that {@link #open} has begun. Throws as
   * above.
   *
   * @throws LogException.SessionEnded when the session is initialized already, or has ended
   */
  public InitializeReply initialize(
      Session opening, Message.Request request, InitializeRequest initialize, Sender sender) {
    return audited(
        opening.principal(),
        initialize.client(),
        opening.address(),
        opening.upstream(),
        () -> inVersionOf(initialize, complete(opening, request, initialize, sender)));
  }

  /**
   * Names the version that a client over HTTP with SSE has asked for: most refuse a later one. Its
   * messages read the same, but for additions that such a client ignores.
   */
  private static InitializeReply inVersionOf(InitializeRequest initialize, InitializeReply reply) {
    String asked = initialize.protocolVersion();
    if (reply.session() == null || ProtocolVersion.parse(asked).isEmpty()) {
      return reply;
    }
    List<byte[]> messages = new ArrayList<>(reply.messages());
    String response = new String(messages.removeLast(), UTF_8);
    String chosen = "(\"protocolVersion\"\\s*:\\s*\")" + reply.session().version().wire() + "\"";
    messages.add(response.replaceFirst(chosen, "$1" + asked + "\"").getBytes(UTF_8));
    return new InitializeReply(reply.session(), messages);
  }

  private InitializeReply complete(
      Session opening, Message.Request request, InitializeRequest initialize, Sender sender) {
    return initialize(
        opening.upstream(),
        new Opener(opening.opener(), opening.address(), opening.userAgent(), sender),
        request,
        (link, version) -> {
          Session session =
              opening.initialized(
                  link.session(), version, initialize.client(), opened(link), link.headers());
          if (!store.completeInitialization(session)) {
            throw new LogException.SessionEnded(StreamNames.shared(session));
          }
          try {
            pinIfNeeded(session, request);
          } catch (Throwable failure) {
            end(session, "not initialized");
            throw failure;
          }
          return session;
        });
  }

  /** The time that tells which of several servers of one name opened the session. */
  private Instant opened(UpstreamLink link) {
    return link.opened() == null ? clock.instant() : link.opened();
  }

  /** Ends the upstream's side of the session again if it cannot be recorded. */
  private InitializeReply initialize(
      String upstreamName,
      Opener opener,
      Message.Request request,
      BiFunction<UpstreamLink, ProtocolVersion, Session> record) {
    Upstream upstream = upstreams.forNewSession(upstreamName);
    Handshake handshake = handshake(upstream, upstreamName, request, opener);
    List<byte[]> messages = new ArrayList<>();
    handshake.before().stream().map(UpstreamMessage::payload).forEach(messages::add);
    messages.add(handshake.response());
    if (handshake.link() == null) {
      return new InitializeReply(null, messages);
    }
    UpstreamLink link = handshake.link().with(opener.sender().with(opener.headers().ofSession()));
    UpstreamSession opened = upstream.attach(link);
    try {
      ProtocolVersion version =
          ProtocolVersion.parse(link.protocolVersion())
              .orElseThrow(RelayException.UnsupportedVersion::new);
      return new InitializeReply(record.apply(link, version), messages);
    } catch (Throwable failure) {
      opened.end();
      throw failure;
    }
  }

  /** If there is no room at the upstream, an abandoned session makes room. */
  private Handshake handshake(
      Upstream upstream, String name, Message.Request request, Opener opener) {
    try {
      return upstream.initialize(request, opener);
    } catch (UpstreamException.Busy full) {
      Duration wait =
          switch (full.limit()) {
            case SESSIONS -> abandoned.makeRoom(each -> each.upstream().equals(name));
            // Room that others make would not help this opener.
            case SESSIONS_OF_OPENER ->
                abandoned.makeRoom(
                    each -> each.upstream().equals(name) && each.opener().equals(opener.client()));
            case REQUESTS -> full.retryAfter();
          };
      if (wait.isPositive()) {
        throw new UpstreamException.Busy(full.limit(), wait);
      }
    }
    return awaitRoom(upstream, request, opener);
  }

  /** Waits for the place of a session that was ended: its process may take a while to end. */
  private static Handshake awaitRoom(Upstream upstream, Message.Request request, Opener opener) {
    long deadline = System.nanoTime() + ROOM_TIMEOUT.toNanos();
    while (true) {
      try {
        return upstream.initialize(request, opener);
      } catch (UpstreamException.Busy full) {
        if (System.nanoTime() - deadline > 0 || Thread.currentThread().isInterrupted()) {
          throw full;
        }
      }
      LockSupport.parkNanos(ROOM_INTERVAL.toNanos());
    }
  }

  /** Records a session and begins its log. After a failure the session is not recorded. */
  private void create(Session session, Runnable openStreams) {
    store.create(session);
    try {
      log.begin(session.id().value(), session.opener());
      openStreams.run();
    } catch (Throwable failure) {
      store.end(session.id());
      throw failure;
    }
    listener.sessionOpened();
    OPENED.log(
        LOG,
        Logger.Level.INFO,
        () ->
            "session opened session=%s upstream=%s client=%s known=%s"
                .formatted(
                    session.id(),
                    session.upstream(),
                    session.client(),
                    clients.find(session.userAgent(), session.client()).name()));
  }

  /** The owner of the standalone stream is the replica to which the session is pinned. */
  private void pinIfNeeded(Session session, Message.Request initialize) {
    if (upstreams.isPinned(session)) {
      PinnedServer server = upstreams.server(session);
      server.recordInitialize(initialize);
      String shared = StreamNames.sharedName(session);
      pinner.accept(log.openUnfollowed(StreamNames.standalone(session), shared), server);
    }
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
   * @param hasOneStream whether the client follows one stream per session, as over HTTP with SSE
   * @param principal who asks
   * @throws RelayException.SessionNotFound when the upstream has no such session over that
   *     transport, or it belongs to somebody else
   */
  public Session find(String upstream, SessionId id, boolean hasOneStream, PrincipalId principal) {
    Session session = store.find(id).orElseThrow(RelayException.SessionNotFound::new);
    if (!matches(session, upstream, hasOneStream, principal)) {
      if (!session.principal().equals(principal)) {
        audit.sessionDenied(principal, session);
      }
      throw new RelayException.SessionNotFound();
    }
    recent.used(session);
    return session;
  }

  /**
   * Finds a session, in memory if it was used here recently. The record of an initialized session
   * never changes, but it may have ended: the caller learns that when it opens a stream in the log.
   * Throws as {@link #find} does.
   */
  public Session findRecent(
      String upstream, SessionId id, boolean hasOneStream, PrincipalId principal) {
    Session used = recent.find(id);
    // A refusal takes as long as that of an unknown session, so that it does not tell them apart.
    return used != null && matches(used, upstream, hasOneStream, principal)
        ? used
        : find(upstream, id, hasOneStream, principal);
  }

  /**
   * Checks for a session before the body of its request is read. While the store is away, this
   * passes: the error of the later step names the id of the request.
   */
  public void require(String upstream, SessionId id, boolean hasOneStream, PrincipalId principal) {
    try {
      Session _ = findRecent(upstream, id, hasOneStream, principal);
    } catch (SessionStoreException away) {
      LOG.debugf("session not checked before its body: %s", away.getMessage());
    }
  }

  private static boolean matches(
      Session session, String upstream, boolean hasOneStream, PrincipalId principal) {
    return session.upstream().equals(upstream)
        && session.hasOneStream() == hasOneStream
        && session.principal().equals(principal);
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

  /** Counts a request of a session. The store gets the count with the next use. */
  public void count(Session session, String address, boolean failed) {
    recent.count(session, address, failed);
  }

  /** Ends a session everywhere: in the store, in the log, its pumps, at the upstream. */
  public EndReport end(Session session) {
    return end(session, "ended by its client");
  }

  private EndReport end(Session session, String cause) {
    return store.end(session.id()) ? clear(session, cause) : EndReport.NONE;
  }

  /**
   * Ends a session that its server has ended. Only a pump learns of that; a client that only
   * listens never would.
   */
  public void endedByServer(Session session) {
    try {
      end(session, "lost by its server");
    } catch (SessionStoreException | LogException.StoreUnavailable away) {
      NOT_ENDED.log(
          LOG,
          Logger.Level.WARN,
          () ->
              "session not ended session=%s reason=%s".formatted(session.id(), away.getMessage()));
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
    audit.sessionEnded(session, cause);
    ENDED.log(
        LOG,
        Logger.Level.INFO,
        () ->
            "session ended session=%s upstream=%s cause=%s"
                .formatted(session.id(), session.upstream(), cause));
    return new EndReport(1, upstreamTold ? 0 : 1);
  }

  /** Ends the sessions that expired. A session that cannot be cleared does not stop the others. */
  public EndReport endExpired() {
    EndReport report = EndReport.NONE;
    List<Session> expired;
    do {
      expired = store.endExpired(EXPIRED_AT_ONCE);
      report = expired.stream().map(this::clearExpired).reduce(report, EndReport::plus);
    } while (expired.size() == EXPIRED_AT_ONCE);
    recent.flush();
    return report;
  }

  private EndReport clearExpired(Session session) {
    try {
      return clear(session, "expired");
    } catch (LogException.StoreUnavailable away) {
      LOG_NOT_ENDED.log(
          LOG,
          Logger.Level.WARN,
          () ->
              "log of expired session not ended session=%s reason=%s"
                  .formatted(session.id(), away.getMessage()));
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
  public void stopPumpsOfEndedSessions() {
    for (String id : pumps.sessions()) {
      if (SessionId.parse(id).flatMap(store::find).isEmpty()) {
        log.end(id);
        pumps.stop(id);
      }
    }
  }
}
