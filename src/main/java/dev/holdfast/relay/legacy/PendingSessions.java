package dev.holdfast.relay.legacy;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.session.SessionUpstreams;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Sessions that exist before their client initializes them, because the client needs a stream for
 * the answer first (2024-11-05, Transports, HTTP with SSE). Thread-safe.
 */
public final class PendingSessions {

  private static final Logger LOG = Logger.getLogger(PendingSessions.class);

  private final Sessions sessions;
  private final SessionUpstreams upstreams;
  private final SessionStore store;
  private final EventLog log;

  /** Creates the service. */
  public PendingSessions(
      Sessions sessions, SessionUpstreams upstreams, SessionStore store, EventLog log) {
    this.sessions = sessions;
    this.upstreams = upstreams;
    this.store = store;
    this.log = log;
  }

  /** Begins a session with its shared stream. */
  Session open(String upstream) {
    Upstream _ = upstreams.named(upstream);
    Session session = Session.opening(SessionId.random(), upstream, sessions.now());
    sessions.create(session, () -> log.openShared(StreamNames.shared(session)));
    return session;
  }

  /**
   * Sends the {@code initialize} request of a pending session.
   *
   * @return the messages for the client; the response is the last
   * @throws dev.holdfast.upstream.UpstreamException when the upstream did not answer
   */
  MessageSource initialize(Session session, Message.Request request, InitializeRequest initialize) {
    if (session.isInitialized()) {
      return refusal(request, "The session is initialized already");
    }
    Upstream upstream;
    try {
      upstream = upstreams.named(session.upstream());
    } catch (RelayException.UnknownUpstream removed) {
      return refusal(request, String.valueOf(removed.getMessage()));
    }
    Handshake handshake = upstream.initialize(request);
    UpstreamLink link = handshake.link();
    String refused = link == null ? null : complete(session, upstream, link, request, initialize);
    if (refused != null) {
      return refusal(request, refused);
    }
    List<UpstreamMessage> messages = new ArrayList<>(handshake.before());
    messages.add(new UpstreamMessage(handshake.response(), null));
    return new FixedMessageSource(messages);
  }

  /** Completes the record of the session; returns the reason for the client if that fails. */
  private @Nullable String complete(
      Session session,
      Upstream upstream,
      UpstreamLink link,
      Message.Request request,
      InitializeRequest initialize) {
    UpstreamSession opened = upstream.attach(link);
    Optional<ProtocolVersion> version = ProtocolVersion.parse(link.protocolVersion());
    if (version.isEmpty()) {
      opened.end();
      return new RelayException.UnsupportedVersion().getMessage();
    }
    try {
      Session initialized = session.initialized(link.session(), version.get(), initialize.client());
      return record(initialized, opened, request)
          ? null
          : "The session is initialized already, or has ended";
    } catch (SessionStoreException | LogException away) {
      LOG.warnf("session not initialized session=%s: %s", session.id(), away.getMessage());
      return "The store is away; open another session";
    }
  }

  /** Returns whether the session was pending. Otherwise the upstream's side is closed again. */
  private boolean record(Session initialized, UpstreamSession opened, Message.Request request) {
    boolean recorded = false;
    boolean complete = false;
    try {
      recorded = store.completeInitialization(initialized);
      if (recorded) {
        sessions.pinIfNeeded(initialized, request);
      }
      complete = recorded;
      return recorded;
    } finally {
      if (!complete) {
        opened.end();
      }
      if (recorded && !complete) {
        sessions.end(initialized);
      }
    }
  }

  private static MessageSource refusal(Message.Request request, String text) {
    return new FixedMessageSource(
        JsonRpcErrors.error(request.id(), JsonRpcErrorCode.INVALID_REQUEST.code(), text));
  }
}
