package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Caller;
import dev.holdfast.lock.Futures;
import dev.holdfast.lock.LruMap;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.OwnRequest;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.state.ResourceList;
import dev.holdfast.upstream.state.SessionMemory;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Sessions with the servers of an endpoint. Each is opened when it is needed, as the client opened
 * the session of the gateway, and again when the server has lost it. The store has their links, for
 * all replicas. Thread-safe.
 */
final class MemberSessions {

  private static final Logger LOG = Logger.getLogger(MemberSessions.class);

  /** The upstream's id of each session of an endpoint. */
  static final String MARK = "merged";

  /** The same if the session lives on one replica. */
  static final String PINNED = "merged pinned";

  private static final String MEMBERS = "members";
  private static final int MAX_KNOWN = 100_000;

  private final SessionStore store;
  private final Members servers;

  /** Links as the store had them, by the gateway's ids of their sessions. */
  private final Map<String, Map<String, UpstreamLink>> known = LruMap.create(MAX_KNOWN);

  private final Map<Opening, CompletableFuture<UpstreamLink>> openings = new ConcurrentHashMap<>();

  private record Opening(String session, String member) {}

  /** Opens sessions with servers. */
  MemberSessions(SessionStore store, Members servers) {
    this.store = store;
    this.servers = servers;
  }

  /** Returns true if the session of a link lives on one replica. */
  static boolean isPinned(UpstreamLink merged) {
    return PINNED.equals(merged.session());
  }

  /** The links of all open sessions, by member, as the store has them now. */
  Map<String, UpstreamLink> open(UpstreamLink merged) {
    Map<String, UpstreamLink> links = stored(merged);
    known.put(id(merged), links);
    return links;
  }

  /** The same, without keeping them. */
  Map<String, UpstreamLink> stored(UpstreamLink merged) {
    return parse(memory(merged).find(MEMBERS).orElse(null));
  }

  /** The same as this replica knows them, without the store. */
  Map<String, UpstreamLink> knownHere(UpstreamLink merged) {
    return merged.gatewaySession() == null
        ? Map.of()
        : Objects.requireNonNullElse(known.get(id(merged)), Map.of());
  }

  /** The session with a member, for a message of its link's sender; null if none is open. */
  @Nullable UpstreamSession find(UpstreamLink merged, String member) {
    UpstreamLink link = knownHere(merged).get(member);
    link = link == null ? open(merged).get(member) : link;
    return link == null ? null : attach(merged, member, link);
  }

  UpstreamSession attach(UpstreamLink merged, String member, UpstreamLink link) {
    return servers.server(member).attach(at(merged, member, link));
  }

  /** Returns a member's link for a message of this session. */
  UpstreamLink at(UpstreamLink merged, String member, UpstreamLink link) {
    return new UpstreamLink(
        link.session(),
        link.protocolVersion(),
        merged.gatewaySession(),
        Members.forServer(servers.server(member), merged.sender()),
        link.opened(),
        member);
  }

  /**
   * The link to a member. Opens a session with the member unless there is one.
   *
   * @param lost a link to a session that the member has lost; null for none
   * @param onOpened runs when this call has opened the session
   * @throws UpstreamException when the member does not open one; no message was sent then
   */
  UpstreamLink open(
      UpstreamLink merged, String member, @Nullable UpstreamLink lost, Runnable onOpened) {
    UpstreamLink here = knownHere(merged).get(member);
    if (here != null && !here.isSameAtServer(lost)) {
      return here;
    }
    CompletableFuture<UpstreamLink> opening = new CompletableFuture<>();
    Opening key = new Opening(id(merged), member);
    CompletableFuture<UpstreamLink> other = openings.putIfAbsent(key, opening);
    if (other != null) {
      return Futures.join(other);
    }
    try {
      UpstreamLink link = openNow(merged, member, lost, onOpened);
      opening.complete(link);
      return link;
    } catch (SessionStoreException away) {
      UpstreamException failure = new UpstreamException.Unreachable(away);
      opening.completeExceptionally(failure);
      throw failure;
    } catch (Throwable failure) {
      opening.completeExceptionally(failure);
      throw failure;
    } finally {
      openings.remove(key, opening);
    }
  }

  private UpstreamLink openNow(
      UpstreamLink merged, String member, @Nullable UpstreamLink lost, Runnable onOpened) {
    UpstreamLink found = open(merged).get(member);
    if (found != null && !found.isSameAtServer(lost)) {
      return found;
    }
    UpstreamLink opened = initialize(merged, member);
    UpstreamLink winner = null;
    try {
      winner = record(merged, member, found, opened);
    } finally {
      if (winner == null || !winner.isSameAtServer(opened)) {
        attach(merged, member, opened).end();
      }
    }
    if (winner.isSameAtServer(opened)) {
      onOpened.run();
      LOG.debugf("session of member opened member=%s again=%s", member, lost != null);
    }
    return winner;
  }

  private UpstreamLink initialize(UpstreamLink merged, String member) {
    Upstream server = servers.server(member);
    if (!server.profile().opensSessions()) {
      throw new UpstreamException.Unreachable(null); // It was removed.
    }
    Handshake handshake =
        initialize(
            server,
            recorded(merged),
            merged.protocolVersion(),
            Members.forServer(server, merged.sender()));
    UpstreamLink link = Objects.requireNonNull(handshake.link());
    if (server.placement(link) instanceof Placement.Pinned && !isPinned(merged)) {
      server.attach(link).end();
      throw new UpstreamException.Broken("it needs a session that began when it was known", null);
    }
    try {
      attach(merged, member, link).send(JsonRpcMessages.INITIALIZED);
      repeat(merged, member, link);
      return link;
    } catch (UpstreamException.SessionGone gone) {
      throw new UpstreamException.Broken("it has lost the session that it has just opened", gone);
    } catch (UpstreamException | SessionStoreException failure) {
      attach(merged, member, link).end();
      throw failure;
    }
  }

  /** The request with which the client has opened its session. */
  byte[] recorded(UpstreamLink merged) {
    return memory(merged)
        .find(SessionMemory.INITIALIZE)
        .orElseThrow(() ->
            new UpstreamException.Broken("the client's initialize was too large to be kept", null))
        .getBytes(UTF_8);
  }

  /**
   * Opens a session as a client has opened that of the gateway.
   *
   * @param recorded the client's request
   * @return the answer, which has a link
   * @throws UpstreamException when the server opens none
   */
  static Handshake initialize(Upstream server, byte[] recorded, String version, Caller caller) {
    byte[] request =
        new JsonEdit()
            .set(JsonEdit.quote(version), "params", "protocolVersion")
            .remove("params", "capabilities", "tasks")
            .apply(recorded);
    if (!(Envelopes.read(request) instanceof Body.Single(Message.Request initialize))) {
      throw new UpstreamException.Broken("the client's initialize is no request", null);
    }
    Handshake handshake = server.initialize(initialize, caller);
    if (handshake.link() == null) {
      String why = JsonEdit.text(JsonEdit.raw(handshake.response(), "error", "message"));
      throw new UpstreamException.Broken("it refused a session: " + why, null);
    }
    return handshake;
  }

  /** Sets the log level of sessions with members, as far as they take it. */
  void setLevel(UpstreamLink merged, Map<String, UpstreamLink> links) {
    memory(merged)
        .find(SessionMemory.LOG_LEVEL)
        .ifPresent(level ->
            OwnRequest.sendAll(
                links.entrySet().stream()
                    .filter(each -> servers.byName().containsKey(each.getKey()))
                    .map(each -> attach(merged, each.getKey(), each.getValue()))
                    .map(session ->
                        new OwnRequest(session, Methods.SET_LEVEL, Map.of("level", level)))
                    .toList()));
  }

  /** Notes that the client has subscribed to a resource of a member, or no longer does. */
  void subscribed(UpstreamLink merged, String member, String uri, boolean adds) {
    String _ =
        memory(merged)
            .change(
                SessionMemory.RESOURCES,
                saved -> {
                  Map<String, String> all = JsonEdit.members(saved);
                  all.remove(uri);
                  if (adds && all.size() < ResourceList.MAX_RESOURCES) {
                    all.put(uri, JsonEdit.quote(member));
                  }
                  JsonEdit json = new JsonEdit();
                  all.forEach((each, owner) -> json.set(owner, each));
                  return json.toJson();
                });
  }

  /** Repeats settings of the client. A server that refuses some has the session nevertheless. */
  private void repeat(UpstreamLink merged, String member, UpstreamLink link) {
    setLevel(merged, Map.of(member, link));
    UpstreamSession session = attach(merged, member, link);
    OwnRequest.sendAll(
        JsonEdit.members(memory(merged).find(SessionMemory.RESOURCES).orElse(null))
            .entrySet()
            .stream()
            .filter(each -> member.equals(JsonEdit.text(each.getValue())))
            .map(each ->
                new OwnRequest(session, Methods.RESOURCES_SUBSCRIBE, Map.of("uri", each.getKey())))
            .toList());
  }

  /** Records a link unless another replica was faster; returns the one that holds. */
  private UpstreamLink record(
      UpstreamLink merged, String member, @Nullable UpstreamLink before, UpstreamLink opened) {
    String text =
        memory(merged)
            .change(
                MEMBERS,
                saved -> {
                  Map<String, UpstreamLink> links = parse(saved);
                  UpstreamLink now = links.get(member);
                  if (now == null || now.isSameAtServer(before)) {
                    links.put(member, opened);
                  }
                  return format(links);
                });
    Map<String, UpstreamLink> links = parse(text);
    UpstreamLink other = links.get(member);
    UpstreamLink winner = other == null || other.isSameAtServer(before) ? opened : other;
    links.put(member, winner);
    known.put(id(merged), links);
    return winner;
  }

  /** Returns true if calls of a session with a member run in the process that made them. */
  boolean runsInProcess(UpstreamLink merged, String member, UpstreamLink link) {
    return servers.server(member).placement(at(merged, member, link))
        instanceof Placement.InProcess;
  }

  /** Ends all sessions with members, as far as this replica knows them. Does not throw. */
  void end(UpstreamLink merged) {
    endAll(merged, _ -> true);
  }

  /** Ends the sessions that live on this replica. Does not throw. */
  void leave(UpstreamLink merged) {
    endAll(merged, Placement.Pinned.class::isInstance);
  }

  private void endAll(UpstreamLink merged, Predicate<Placement> which) {
    Map<String, UpstreamLink> links = knownHere(merged);
    if (links.isEmpty()) {
      return;
    }
    known.remove(id(merged));
    links.forEach((member, link) -> {
      Upstream server = servers.byName().get(member);
      if (server != null && which.test(server.placement(at(merged, member, link)))) {
        Thread _ = Thread.startVirtualThread(() -> attach(merged, member, link).end());
      }
    });
  }

  SessionMemory memory(UpstreamLink merged) {
    return SessionMemory.of(store, merged);
  }

  private static String id(UpstreamLink merged) {
    return Objects.requireNonNull(merged.gatewaySession());
  }

  private static String format(Map<String, UpstreamLink> links) {
    JsonEdit json = new JsonEdit();
    links.forEach((member, link) -> {
      if (link.session() != null) {
        json.set(JsonEdit.quote(link.session()), member, "session");
      }
      json.set(JsonEdit.quote(link.protocolVersion()), member, "version");
      if (link.opened() != null) {
        json.set(Long.toString(link.opened().toEpochMilli()), member, "opened");
      }
    });
    return json.toJson();
  }

  private static Map<String, UpstreamLink> parse(@Nullable String text) {
    Map<String, UpstreamLink> links = new LinkedHashMap<>();
    JsonEdit.members(text)
        .forEach((member, json) -> {
          Map<String, String> fields = JsonEdit.members(json);
          String opened = fields.get("opened");
          UpstreamLink link =
              new UpstreamLink(
                  JsonEdit.text(fields.get("session")),
                  Objects.requireNonNullElse(JsonEdit.text(fields.get("version")), ""));
          links.put(
              member,
              opened == null ? link : link.openedAt(Instant.ofEpochMilli(Long.parseLong(opened))));
        });
    return links;
  }
}
