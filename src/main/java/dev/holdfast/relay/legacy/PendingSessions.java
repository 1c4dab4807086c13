package dev.holdfast.relay.legacy;

import dev.holdfast.log.LogException;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.FixedMessageSource;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Sessions that are there before their client initializes them, since it needs a stream first on
 * which to be answered (2024-11-05, Transports, HTTP with SSE). Thread-safe.
 */
public final class PendingSessions {

  private static final Logger LOG = Logger.getLogger(PendingSessions.class);

  private final Sessions sessions;
  private final SessionStore store;
  private final Map<String, Upstream> upstreams;
  private final Parts parts;
  private final Supplier<Instant> now;

  public PendingSessions(
      Sessions sessions,
      SessionStore store,
      Map<String, Upstream> upstreams,
      Parts parts,
      Supplier<Instant> now) {
    this.sessions = sessions;
    this.store = store;
    this.upstreams = upstreams;
    this.parts = parts;
    this.now = now;
  }

  /** Begins a session, with its one stream. */
  Session open(String upstream) {
    if (!upstreams.containsKey(upstream)) {
      throw new RelayException.UnknownUpstream();
    }
    Session session = Session.opening(SessionId.random(), upstream, now.get());
    store.create(session);
    boolean begun = false;
    try {
      parts.log().begin(session.id().value());
      parts.log().openShared(StreamNames.one(session));
      begun = true;
    } finally {
      if (!begun) {
        store.end(session.id());
      }
    }
    parts.listener().sessionOpened();
    return session;
  }

  /**
   * Opens the upstream's side of a session, unless it has one.
   *
   * @return what the client gets, its response last
   * @throws dev.holdfast.upstream.UpstreamException when the upstream gave no answer
   */
  MessageSource initialize(Session session, Message.Request request, InitializeRequest asked) {
    Upstream server = upstreams.get(session.upstream());
    if (server == null || session.isInitialized()) {
      return refusal(request, "The session is initialized already");
    }
    Handshake handshake = server.initialize(request);
    UpstreamLink link = handshake.link();
    String refused = link == null ? null : complete(session, server, link, request, asked);
    if (refused != null) {
      return refusal(request, refused);
    }
    List<UpstreamMessage> messages = new ArrayList<>(handshake.before());
    messages.add(new UpstreamMessage(handshake.response(), null));
    return new FixedMessageSource(messages);
  }

  /** Records what was opened; returns why not, for the client. */
  private @Nullable String complete(
      Session session,
      Upstream server,
      UpstreamLink link,
      Message.Request request,
      InitializeRequest asked) {
    UpstreamSession opened = server.attach(link);
    Optional<ProtocolVersion> version = ProtocolVersion.parse(link.protocolVersion());
    if (version.isEmpty()) {
      opened.end();
      return new RelayException.UnsupportedVersion().getMessage();
    }
    try {
      Session initialized = session.initialized(link.session(), version.get(), asked.client());
      return record(initialized, opened, request)
          ? null
          : "The session is initialized already, or has ended";
    } catch (SessionStoreException | LogException away) {
      LOG.warnf("session=%s could not be initialized: %s", session.id(), away.getMessage());
      return "The store is away; open another session";
    }
  }

  /** Whether this was what the session waited for. What was opened for nobody is closed again. */
  private boolean record(Session initialized, UpstreamSession opened, Message.Request request) {
    boolean recorded = false;
    boolean settled = false;
    try {
      recorded = store.completeInitialization(initialized);
      if (recorded && sessions.keepsSessions(initialized)) {
        sessions.settleHere(initialized, request);
      }
      settled = recorded;
      return recorded;
    } finally {
      if (!settled) {
        opened.end();
      }
      if (recorded && !settled) {
        sessions.end(initialized);
      }
    }
  }

  private static MessageSource refusal(Message.Request request, String text) {
    return new FixedMessageSource(
        JsonRpcErrors.error(request.id(), JsonRpcErrorCode.INVALID_REQUEST.code(), text));
  }
}
