package dev.holdfast.upstream.renewal;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.LogRate;
import dev.holdfast.lock.LruMap;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.OwnRequest;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.state.ResourceList;
import dev.holdfast.upstream.state.SessionMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The newest sessions at a server, as far as this replica knows them. Thread-safe. */
final class Renewals {

  private static final Logger LOG = Logger.getLogger(Renewals.class);
  private static final LogRate RENEWED = new LogRate(Duration.ofMillis(100));

  /** Name of the newest session in the {@link SessionMemory}. */
  private static final String NEWEST = "server-session";

  /** A forgotten one is found in the store. */
  private static final int MAX_KNOWN = 10_000;

  private final Upstream upstream;
  private final String name;
  private final SessionStore store;
  private final Map<SessionMemory, ServerSession> known = LruMap.create(MAX_KNOWN);
  private final Map<SessionMemory, CompletableFuture<Found>> running = new ConcurrentHashMap<>();

  /** The standalone streams that are read here. */
  private final Map<SessionMemory, RenewedSource> listening = new ConcurrentHashMap<>();

  /**
   * A session in place of a forgotten one.
   *
   * @param renewed false if it had been opened before, by any replica
   */
  record Found(ServerSession session, boolean renewed) {}

  Renewals(Upstream upstream, String name, SessionStore store) {
    this.upstream = upstream;
    this.name = name;
    this.store = store;
  }

  /** The newest session that this replica knows. */
  ServerSession known(SessionMemory memory, ServerSession first) {
    ServerSession newest = known.get(memory);
    return newest != null && newest.isAfter(first) ? newest : first;
  }

  /**
   * The newest session in the store, if that is a later one.
   *
   * @throws SessionStoreException while the store is away
   */
  Optional<ServerSession> findAfter(SessionMemory memory, ServerSession session) {
    Optional<ServerSession> found =
        ServerSession.parse(memory.find(NEWEST).orElse(null))
            .filter(newest -> newest.isAfter(session));
    found.ifPresent(newest -> learn(memory, newest));
    return found;
  }

  private void learn(SessionMemory memory, ServerSession newest) {
    ServerSession _ =
        known.merge(memory, newest, (before, next) -> before.isAfter(next) ? before : next);
    RenewedSource source = listening.get(memory);
    if (source != null && newest.isAfter(source.at())) {
      source.abandon();
    }
  }

  void forget(SessionMemory memory) {
    known.remove(memory);
  }

  /** Notes that a standalone stream is read here until it is closed. */
  RenewedSource listen(SessionMemory memory, RenewedSource source) {
    listening.put(memory, source);
    source.onClose(() -> listening.remove(memory, source));
    if (known(memory, source.at()).isAfter(source.at())) {
      source.abandon();
    }
    return source;
  }

  /** The upstream's side of one session of the server. */
  UpstreamSession attach(UpstreamLink link, ServerSession session) {
    return upstream.attach(link.toServer(session.id(), link.protocolVersion()));
  }

  /**
   * Returns a session in place of one that the server has forgotten. Opens it if no replica has.
   * Callers for the same one share the work and its failure.
   *
   * @param message the message for which it is needed; null for none
   * @throws UpstreamException.SessionGone if there cannot be one. After any other failure, a later
   *     attempt may succeed; the server has not seen the message
   */
  Found after(SessionMemory memory, ServerSession gone, UpstreamLink link, @Nullable Body message) {
    CompletableFuture<Found> mine = new CompletableFuture<>();
    CompletableFuture<Found> other = running.putIfAbsent(memory, mine);
    if (other != null) {
      Found found = await(other);
      return found.session().isAfter(gone) ? found : after(memory, gone, link, message);
    }
    try {
      Found found = findOrOpen(memory, gone, link, message);
      running.remove(memory, mine);
      mine.complete(found);
      return found;
    } catch (Throwable failure) {
      running.remove(memory, mine);
      mine.completeExceptionally(failure);
      throw failure;
    }
  }

  private static Found await(CompletableFuture<Found> other) {
    try {
      return other.get();
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof UpstreamException failure
          ? failure
          : new UpstreamException.Unreachable(failed.getCause());
    }
  }

  private Found findOrOpen(
      SessionMemory memory, ServerSession gone, UpstreamLink link, @Nullable Body message) {
    ServerSession newest = known.get(memory);
    if (newest != null && newest.isAfter(gone)) {
      return new Found(newest, false);
    }
    try {
      Optional<ServerSession> found = findAfter(memory, gone);
      if (found.isPresent()) {
        return new Found(found.get(), false);
      }
      ServerSession opened = open(memory, gone, link, message);
      learn(memory, opened);
      return new Found(opened, true);
    } catch (SessionStoreException away) {
      throw new UpstreamException.Unreachable(away);
    }
  }

  private ServerSession open(
      SessionMemory memory, ServerSession gone, UpstreamLink link, @Nullable Body message) {
    Message.Request initialize = recordedInitialize(memory, link.protocolVersion());
    UpstreamLink opened = own(message, () -> upstream.initialize(initialize, link.sender())).link();
    if (opened == null) {
      throw new UpstreamException.SessionGone();
    }
    UpstreamLink next = link.toServer(opened.session(), opened.protocolVersion());
    UpstreamSession session = upstream.attach(next);
    boolean isNewest = false;
    try {
      if (next.session() == null
          || !next.protocolVersion().equals(link.protocolVersion())
          || upstream.placement(next) instanceof Placement.Pinned) {
        throw new UpstreamException.SessionGone();
      }
      if (!isInitialized(message)) {
        boolean _ =
            own(
                message,
                () -> {
                  session.send(JsonRpcMessages.INITIALIZED);
                  return true;
                });
      }
      ServerSession mine = gone.next(next.session());
      ServerSession newest = recordUnlessRenewed(memory, gone, mine);
      isNewest = newest.equals(mine);
      if (isNewest) {
        RENEWED.info(LOG, "lost session reopened upstream=%s", name);
        repeatState(memory, session);
      }
      return newest;
    } finally {
      if (!isNewest) {
        session.end();
      }
    }
  }

  /** All servers of a session share the record. It may name a version that the server never got. */
  private Message.Request recordedInitialize(SessionMemory memory, String version) {
    String recorded =
        new SessionMemory(store, memory.session(), "")
            .find(SessionMemory.INITIALIZE)
            .orElseThrow(UpstreamException.SessionGone::new);
    byte[] renamed =
        new JsonEdit()
            .set(JsonEdit.quote(version), "params", "protocolVersion")
            .apply(recorded.getBytes(UTF_8));
    if (Envelopes.read(renamed) instanceof Body.Single(Message.Request initialize)) {
      return initialize;
    }
    throw new UpstreamException.SessionGone();
  }

  /**
   * Sends a message of the gateway. Whether it fails or not, the server has not seen the client's.
   */
  private static <T> T own(@Nullable Body message, Supplier<T> send) {
    try {
      return send.get();
    } catch (UpstreamException.Refused refused) {
      if (!UpstreamException.Refused.isAboutCredentials(refused.status())) {
        throw new UpstreamException.Unreachable(refused);
      }
      // The stream of a session must go on: a request may bring other credentials.
      throw message == null ? new UpstreamException.NoToken() : refused;
    } catch (UpstreamException.Broken
        | UpstreamException.TimedOut
        | UpstreamException.TooLarge failure) {
      throw new UpstreamException.Unreachable(failure);
    }
  }

  private static boolean isInitialized(@Nullable Body message) {
    return message instanceof Body.Single(Message sent) && sent.isInitialized();
  }

  /** Returns the session that is recorded: another replica may have been faster. */
  private static ServerSession recordUnlessRenewed(
      SessionMemory memory, ServerSession gone, ServerSession mine) {
    String before =
        memory.change(
            NEWEST,
            value ->
                ServerSession.parse(value).filter(newest -> newest.isAfter(gone)).isPresent()
                    ? value
                    : mine.format());
    return ServerSession.parse(before).filter(newest -> newest.isAfter(gone)).orElse(mine);
  }

  /** A server that refuses some of it has the session nevertheless. */
  private static void repeatState(SessionMemory memory, UpstreamSession session) {
    List<OwnRequest> requests = new ArrayList<>();
    memory
        .find(SessionMemory.LOG_LEVEL)
        .ifPresent(level ->
            requests.add(new OwnRequest(session, Methods.SET_LEVEL, Map.of("level", level))));
    for (String uri : ResourceList.read(memory.find(SessionMemory.RESOURCES).orElse(null))) {
      requests.add(new OwnRequest(session, Methods.RESOURCES_SUBSCRIBE, Map.of("uri", uri)));
    }
    OwnRequest.sendAll(requests);
  }
}
