package dev.holdfast.merge;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Parts that all sessions of an endpoint share: its servers, what they offer, and the standalone
 * streams that are read on this replica. Thread-safe.
 */
final class SharedServers {

  private static final List<byte[]> CHANGES =
      Stream.of("tools", "prompts", "resources")
          .map(list -> JsonRpcMessages.of("notifications/" + list + "/list_changed").toBytes())
          .toList();

  private final Members servers;
  private final MemberSessions members;
  private final Catalog catalog;
  private final boolean hasSearch;
  private final ByteBudget held;

  /** By the gateway's ids of their sessions. */
  private final Map<String, StandaloneStreams> listening = new ConcurrentHashMap<>();

  /** {@code held} is the budget of messages that wait for their readers. */
  SharedServers(Members servers, MemberSessions members, MergeSettings settings, ByteBudget held) {
    this.servers = servers;
    this.members = members;
    this.catalog = new Catalog(settings, ByteBudget.ofHeap(16, Long.MAX_VALUE), this::tellChanged);
    this.hasSearch = settings.search();
    this.held = held;
  }

  /** The sessions with the servers. */
  MemberSessions members() {
    return members;
  }

  ServerRules rules() {
    return servers.rules();
  }

  /** Returns true if clients find tools by a search. */
  boolean hasSearch() {
    return hasSearch;
  }

  ByteBudget held() {
    return held;
  }

  /** The names for a client that opens a session. */
  Names names(byte[] initialize, String version, Caller opener) {
    return catalog.names(
        servers.kind(opener),
        servers.visible(opener),
        (member, _) -> probe(member, initialize, version, opener));
  }

  /** The names of all servers, whatever scopes they require. */
  Names allNames(byte[] initialize, String version) {
    return catalog.names(
        "all",
        List.copyOf(servers.byName().keySet()),
        (member, _) -> probe(member, initialize, version, Caller.UNKNOWN));
  }

  /** The names that callers like this one got last; null if none came. */
  @Nullable Names known(Caller caller) {
    return catalog.known(servers.kind(caller));
  }

  /** Returns true if sessions with a server live on one replica, as far as that is known. */
  boolean isPinned(Names.Member member) {
    return member.offer() != null
        ? member.offer().isPinned()
        : servers.byName().containsKey(member.name())
            && servers.server(member.name()).placement(new UpstreamLink(null, ""))
                instanceof Placement.Pinned;
  }

  /** Reads the lists of a server in a session of their own. */
  private Offer probe(String member, byte[] initialize, String version, Caller caller) {
    Upstream server = servers.server(member);
    Caller sender = Members.forServer(server, caller);
    Handshake handshake = MemberSessions.initialize(server, initialize, version, sender);
    UpstreamLink link = Objects.requireNonNull(handshake.link());
    UpstreamSession session = server.attach(link.with(sender));
    try {
      session.send(JsonRpcMessages.INITIALIZED);
      boolean pinned = server.placement(link) instanceof Placement.Pinned;
      return Offer.read(Offer.of(handshake.response(), pinned), session);
    } finally {
      session.end();
    }
  }

  /** The names for the sender of a link. */
  Names names(UpstreamLink merged) {
    Caller caller = merged.sender();
    String kind = servers.kind(caller);
    StandaloneStreams here = listening(merged);
    if (here != null) {
      here.kind(kind);
    }
    return catalog.names(
        kind, servers.visible(caller), (member, before) -> read(merged, member, before));
  }

  /** Reads the lists of a server in the session that is open, or else in one of their own. */
  private Offer read(UpstreamLink merged, String member, @Nullable Offer before) {
    UpstreamLink open = members.knownHere(merged).get(member);
    if (before != null && open != null) {
      try {
        return Offer.read(before, members.attach(merged, member, open));
      } catch (UpstreamException.SessionGone gone) {
        // The next call opens another session.
      }
    }
    return probe(member, members.recorded(merged), merged.protocolVersion(), merged.sender());
  }

  /** Notes a change of lists of which a server has told in a session. */
  void heard(UpstreamLink merged, String member, UpstreamMessage message) {
    if (isListChange(message)) {
      catalog.changed(member);
    }
  }

  private static boolean isListChange(UpstreamMessage message) {
    return message.body().messages().stream()
        .anyMatch(each ->
            each instanceof Message.Notification told && told.method().endsWith("/list_changed"));
  }

  /** Tells clients who listen that lists have changed, such as when a server is back. */
  private void tellChanged(String kind, String member) {
    for (StandaloneStreams streams : listening.values()) {
      if (kind.equals(streams.kind())) {
        CHANGES.forEach(streams::tell);
      }
    }
  }

  /** Opens the standalone stream of a session, as {@link UpstreamSession} does. */
  StandaloneStreams listen(UpstreamLink merged, @Nullable String after) {
    StandaloneStreams streams =
        new StandaloneStreams(
            members, merged, after, (member, message) -> heard(merged, member, message), held);
    StandaloneStreams before = listening.put(String.valueOf(merged.gatewaySession()), streams);
    if (before != null) {
      before.close();
    }
    return streams;
  }

  void stopListening(UpstreamLink merged, StandaloneStreams streams) {
    listening.remove(String.valueOf(merged.gatewaySession()), streams);
  }

  /** The standalone stream of a session, if it is read here. */
  @Nullable StandaloneStreams listening(UpstreamLink merged) {
    return listening.get(String.valueOf(merged.gatewaySession()));
  }

  /** Stops reading all streams. */
  void close() {
    List.copyOf(listening.values()).forEach(StandaloneStreams::close);
  }
}
