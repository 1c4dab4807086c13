package dev.holdfast.era.north;

import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.Principal;
import dev.holdfast.lock.Futures;
import dev.holdfast.lock.LruMap;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.session.Session;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * Sessions of this replica for callers that have none: one for each principal, upstream and set of
 * capabilities. Callers without a name share a session only if the server keeps nothing for it;
 * else each request gets its own. Thread-safe.
 */
final class SessionPool {

  private static final int MAX_SESSIONS = 10_000;

  /** Time for which a session takes requests. Then what the server has told may be old. */
  private static final Duration MAX_AGE = Duration.ofMinutes(10);

  /**
   * The callers that share a session.
   *
   * @param capabilities their digest
   */
  private record Key(Principal principal, String upstream, String capabilities) {}

  private final Relay relay;
  private final EraConfig config;
  private final InstantSource clock;
  private final Map<Key, CompletableFuture<PooledSession>> sessions = LruMap.create(MAX_SESSIONS);

  /** Opens sessions on demand. */
  SessionPool(Relay relay, EraConfig config, InstantSource clock) {
    this.relay = relay;
    this.config = config;
    this.clock = clock;
  }

  /** Finds or opens the session for a request. Throws as {@link Relay#take} does. */
  PooledSession find(Exchange exchange, StatelessRequest request) {
    Key key = key(exchange, request);
    CompletableFuture<PooledSession> known = sessions.get(key);
    if (known != null) {
      PooledSession session = Futures.join(known);
      if (session.isForOneCall()) {
        return open(exchange, request);
      }
      if (session.take(clock.instant())) {
        return session;
      }
      sessions.remove(key, known);
    }
    CompletableFuture<PooledSession> opening = new CompletableFuture<>();
    CompletableFuture<PooledSession> other = sessions.putIfAbsent(key, opening);
    if (other != null) {
      PooledSession session = Futures.join(other);
      return session.isForOneCall() ? open(exchange, request) : session;
    }
    try {
      PooledSession session = open(exchange, request);
      opening.complete(session);
      return session;
    } catch (Throwable failure) {
      sessions.remove(key, opening);
      opening.completeExceptionally(failure);
      throw failure;
    }
  }

  /** A session that describes the server of a request. Throws as above. */
  PooledSession discover(Exchange exchange, StatelessRequest request) {
    CompletableFuture<PooledSession> known = sessions.get(key(exchange, request));
    PooledSession session = known == null ? null : Futures.join(known);
    if (session != null && session.take(clock.instant())) {
      return session;
    }
    PooledSession found = find(exchange, request);
    end(exchange, found);
    return found;
  }

  /** Removes a session that has ended. */
  void forget(Exchange exchange, StatelessRequest request, PooledSession session) {
    sessions.computeIfPresent(
        key(exchange, request),
        (_, known) -> known.isDone() && Futures.join(known).equals(session) ? null : known);
  }

  /** Ends a session that was opened for one call. */
  void end(Exchange exchange, PooledSession session) {
    if (session.isForOneCall()) {
      relay.end(exchange.upstream(), new Conversation.Streamable(session.id()), exchange.caller());
    }
  }

  private static Key key(Exchange exchange, StatelessRequest request) {
    return new Key(
        exchange.caller().principal(), exchange.upstream(), request.capabilitiesDigest());
  }

  private PooledSession open(Exchange exchange, StatelessRequest request) {
    SessionOpener.InitializeReply opened = initialize(exchange, request);
    byte[] response = opened.messages().getLast();
    Session session = opened.session();
    if (session == null) {
      String why = JsonEdit.text(JsonEdit.raw(response, "error", "message"));
      throw new StatelessException(
          200, JsonRpcErrorCode.INTERNAL_ERROR, "The server refuses a session: " + why, null);
    }
    boolean translated = session.version().hasSessions();
    if (translated) {
      Exchange initialized = exchange.with(JsonRpcMessages.INITIALIZED);
      Reply _ = relay.take(new Conversation.Streamable(session.id()), initialized, () -> {});
    }
    return new PooledSession(
        session.id(),
        translated,
        !isShared(session),
        ServerDescription.read(response),
        clock.instant().plus(MAX_AGE));
  }

  /** Ids of events name their session, with which a nameless caller could use that of others. */
  private boolean isShared(Session session) {
    return !session.principal().equals(Principal.ANONYMOUS)
        || config.shareAnonymousSessions()
        || !(config.eventIds() || relay.isStateful(session));
  }

  private SessionOpener.InitializeReply initialize(Exchange exchange, StatelessRequest request) {
    String capabilities =
        new JsonEdit().remove("extensions").remove("tasks").apply(request.capabilities());
    byte[] initialize =
        JsonRpcMessages.of(Methods.INITIALIZE)
            .set("\"open\"", "id")
            .set(JsonEdit.quote(ProtocolVersion.V2026_07_28.wire()), "params", "protocolVersion")
            .set(capabilities, "params", "capabilities")
            .set(request.clientInfo(), "params", "clientInfo")
            .toBytes();
    Message.Request message = Exchange.initializeIn(Envelopes.read(initialize));
    return relay.open(exchange.upstream(), Objects.requireNonNull(message), exchange.caller());
  }
}
