package dev.holdfast.relay.session;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.budget.LogRate;
import dev.holdfast.call.Caller;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
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
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Opens sessions: at the upstream, in the store and in the log. Thread-safe.
 *
 * @param pinner pins sessions whose server this replica has opened; gets the writer of the
 *     session's standalone stream
 */
public record SessionOpener(
    Sessions sessions,
    SessionUpstreams upstreams,
    EventLog log,
    BiConsumer<StreamWriter, PinnedServer> pinner,
    RelayListener listener,
    AuditLog audit,
    KnownClients clients,
    InstantSource clock) {

  private static final Logger LOG = Logger.getLogger(SessionOpener.class);
  private static final LogRate OPENED = new LogRate(Duration.ofMillis(100));

  /** The most that a new session waits for the end of one that makes room. */
  private static final Duration ROOM_TIMEOUT = Duration.ofSeconds(5);

  private static final Duration ROOM_INTERVAL = Duration.ofMillis(20);

  /**
   * The answer to {@code initialize}.
   *
   * @param session the new session; null when the upstream refused to open one
   * @param messages the messages of the upstream; the response is the last and usually the only one
   */
  public record InitializeReply(@Nullable Session session, List<byte[]> messages) {}

  /** Begins a session that its client initializes later, over HTTP with SSE. */
  public Session open(String upstreamName, Caller opener) {
    return audited(upstreamName, opener, null, () -> openShared(upstreamName, opener));
  }

  private Session openShared(String upstreamName, Caller opener) {
    Upstream _ = upstreams.forNewSession(upstreamName);
    Session session =
        Session.opening(
            upstreams.store().newId(),
            upstreamName,
            now(),
            opener.share(),
            opener.principal(),
            opener.userAgent());
    create(session, () -> log.openShared(StreamNames.shared(session)));
    audit.sessionOpened(session, opener.network());
    return session;
  }

  /**
   * Sends an {@code initialize} request and records the session that it opens.
   *
   * @throws RelayException.UnknownUpstream when no upstream has the name
   * @throws RelayException.UnsupportedVersion when the upstream chose an unknown version
   * @throws RelayException.NotOpened when the upstream did not answer with MCP
   */
  public InitializeReply initialize(String upstreamName, Message.Request request, Caller opener) {
    listener.fromClient(new Body.Single(request));
    InitializeRequest initialize = InitializeRequest.read(request);
    String client = initialize.client();
    BiFunction<UpstreamLink, ProtocolVersion, Session> record =
        (link, version) -> {
          Session session =
              new Session(
                  upstreams.store().newId(),
                  upstreamName,
                  link.session(),
                  version,
                  opened(link),
                  Transport.STREAMABLE,
                  link.headers(),
                  new Session.Owner(
                      opener.principal(), opener.share(), client, opener.userAgent()));
          create(session, () -> prepare(session, request));
          sessions.began(session);
          audit.sessionOpened(session, opener.network());
          return session;
        };
    try {
      InitializeReply reply =
          audited(
              upstreamName,
              opener,
              client,
              () ->
                  overStreamableHttp(
                      initialize, initialize(upstreamName, opener, client, request, record)));
      listener.fromUpstream(RelayListener.MessageKind.RESPONSE);
      return reply;
    } catch (UpstreamException.Broken | UpstreamException.SessionGone failure) {
      throw new RelayException.NotOpened(String.valueOf(failure.getMessage()));
    } catch (UpstreamException failure) {
      listener.upstreamFailed(upstreamName, failure);
      throw failure;
    }
  }

  /**
   * Streamable HTTP is no part of 2024-11-05, so some clients refuse this version over it. A server
   * of 2024-11-05 need not take the batches that 2025-03-26 has.
   */
  private static InitializeReply overStreamableHttp(
      InitializeRequest initialize, InitializeReply reply) {
    boolean renamed =
        reply.session() != null
            && reply.session().version() == ProtocolVersion.V2024_11_05
            && ProtocolVersion.parseWithSessions(initialize.protocolVersion())
                .filter(asked -> !asked.hasBatches())
                .isPresent();
    return renamed ? inVersionOf(initialize, reply) : reply;
  }

  /**
   * Sends the {@code initialize} request of a session that {@link #open} has begun. Throws as
   * above.
   *
   * @throws LogException.SessionEnded when the session is initialized already, or has ended
   */
  public InitializeReply initialize(
      Session opening, Message.Request request, InitializeRequest initialize, Caller sender) {
    BiFunction<UpstreamLink, ProtocolVersion, Session> record =
        (link, version) -> {
          Session session =
              opening.initialized(
                  link.session(), version, initialize.client(), opened(link), link.headers());
          if (!upstreams.store().completeInitialization(session)) {
            throw new LogException.SessionEnded(StreamNames.shared(session));
          }
          try {
            prepare(session, request);
          } catch (Throwable failure) {
            sessions.end(session, "not initialized");
            throw failure;
          }
          return session;
        };
    Caller opener = sender.at(sender.address(), opening.address(), opening.userAgent());
    String name = opening.upstream();
    String client = initialize.client();
    return audited(
        name,
        opener,
        client,
        () -> inVersionOf(initialize, initialize(name, opener, client, request, record)));
  }

  /** Runs an attempt to open a session; {@code client} is null before the client names itself. */
  private <T> T audited(
      String upstreamName, Caller opener, @Nullable String client, Supplier<T> open) {
    try {
      return open.get();
    } catch (RuntimeException failure) {
      audit.sessionRefused(opener, client, upstreamName, reason(failure));
      throw failure;
    }
  }

  /** The reason of a failure for the audit log. The text of an upstream may have secrets. */
  private static String reason(RuntimeException failure) {
    return switch (failure) {
      case TooManySessionsException _ -> "there are too many sessions";
      case UpstreamException.Busy _ -> "the upstream has no room";
      case UpstreamException _ -> "the upstream failed";
      case SessionStoreException _, LogException _ -> "the store is away";
      case RelayException.UnsupportedVersion _ -> "the upstream chose an unknown version";
      default -> "the gateway failed";
    };
  }

  /**
   * Names the version that the client has asked for: most refuse another one. Messages of all
   * versions read the same, but for additions that an older client ignores.
   */
  private static InitializeReply inVersionOf(InitializeRequest initialize, InitializeReply reply) {
    String asked = initialize.protocolVersion();
    if (reply.session() == null || ProtocolVersion.parseWithSessions(asked).isEmpty()) {
      return reply;
    }
    List<byte[]> messages = new ArrayList<>(reply.messages());
    String response = new String(messages.removeLast(), UTF_8);
    String chosen = "(\"protocolVersion\"\\s*:\\s*\")" + reply.session().version().wire() + "\"";
    messages.add(response.replaceFirst(chosen, "$1" + asked + "\"").getBytes(UTF_8));
    return new InitializeReply(reply.session(), messages);
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  /** The time that tells which of several servers of one name opened the session. */
  private Instant opened(UpstreamLink link) {
    return link.opened() == null ? now() : link.opened();
  }

  /** Ends the upstream's side of the session again if it cannot be recorded. */
  private InitializeReply initialize(
      String upstreamName,
      Caller opener,
      String client,
      Message.Request request,
      BiFunction<UpstreamLink, ProtocolVersion, Session> record) {
    Upstream upstream = upstreams.forNewSession(upstreamName);
    Handshake handshake = handshake(upstream, upstreamName, request, opener);
    List<byte[]> messages = new ArrayList<>();
    handshake.before().stream().map(UpstreamMessage::payload).forEach(messages::add);
    messages.add(handshake.response());
    if (handshake.link() == null) {
      audit.sessionRefused(opener, client, upstreamName, "the upstream refused it");
      return new InitializeReply(null, messages);
    }
    UpstreamLink link = handshake.link().with(opener.with(opener.headers().ofSession()));
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
      Upstream upstream, String name, Message.Request request, Caller opener) {
    try {
      return upstream.initialize(request, opener);
    } catch (UpstreamException.Busy full) {
      Duration wait =
          switch (full.limit()) {
            case SESSIONS -> sessions.makeRoom(each -> each.upstream().equals(name));
            // Room that others make would not help this opener.
            case SESSIONS_OF_OPENER ->
                sessions.makeRoom(
                    each -> each.upstream().equals(name) && each.opener().equals(opener.share()));
            case REQUESTS -> full.retryAfter();
          };
      if (wait.isPositive()) {
        throw new UpstreamException.Busy(full.limit(), wait);
      }
    }
    return awaitRoom(upstream, request, opener);
  }

  /** Waits for the place of a session that was ended: its process may take a while to end. */
  private static Handshake awaitRoom(Upstream upstream, Message.Request request, Caller opener) {
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
    upstreams.store().create(session);
    try {
      log.begin(StreamNames.key(session.id()), session.opener());
      openStreams.run();
    } catch (Throwable failure) {
      upstreams.store().end(session.id());
      throw failure;
    }
    listener.sessionOpened();
    OPENED.info(
        LOG,
        "session opened session=%s upstream=%s client=%s known=%s",
        session.id(),
        session.upstream(),
        session.client(),
        clients.find(session.userAgent(), session.client()).name());
  }

  /**
   * Records what a lost session needs. The owner of the standalone stream is the replica to which
   * the session is pinned.
   */
  private void prepare(Session session, Message.Request initialize) {
    PinnedServer server = upstreams.server(session);
    server.recordInitialize(initialize);
    if (upstreams.isPinned(session)) {
      String shared = StreamNames.sharedName(session);
      pinner.accept(log.openUnfollowed(StreamNames.standalone(session), shared), server);
    }
  }
}
