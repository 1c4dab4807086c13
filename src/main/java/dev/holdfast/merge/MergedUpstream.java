package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.state.SessionMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Several servers as one. Thread-safe.
 *
 * <p>A session with it is one of the gateway, with sessions at the servers that are used. If one of
 * the servers lives in a process of one replica, the whole session does.
 */
public final class MergedUpstream implements Upstream {

  private static final String MARK = "merged";
  private static final String PINNED_MARK = "merged pinned";
  private static final int INSTRUCTIONS_PER_SERVER = 16_000;

  private final Members servers;
  private final MemberSessions members;
  private final Catalog catalog;
  private final ByteBudget held;
  private final String version;

  /** The standalone streams that are read here, by the gateway's ids of their sessions. */
  private final Map<String, StandaloneStreams> listening = new ConcurrentHashMap<>();

  /**
   * Merges servers.
   *
   * @param upstreams returns the servers by name
   * @param scope returns the scope that a server requires; empty if it requires none
   * @param mayUse tells if a caller may use a server
   * @param held budget of messages that wait for their readers
   * @param version of this program
   */
  public MergedUpstream(
      MergeSettings settings,
      Supplier<Map<String, Upstream>> upstreams,
      Function<String, Optional<String>> scope,
      BiPredicate<String, Caller> mayUse,
      SessionStore store,
      ByteBudget held,
      String version) {
    this.servers = new Members(settings.servers(), upstreams, new Members.Access(scope, mayUse));
    this.members = new MemberSessions(store, servers);
    this.catalog = new Catalog(settings, ByteBudget.ofHeap(16, Long.MAX_VALUE), this::tellChanged);
    this.held = held;
    this.version = version;
  }

  /** Returns true if the session of a link lives on one replica. */
  static boolean isPinned(UpstreamLink merged) {
    return PINNED_MARK.equals(merged.session());
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    String version =
        ProtocolVersion.parseWithSessions(InitializeRequest.read(initialize).protocolVersion())
            .orElse(ProtocolVersion.NEWEST_WITH_SESSIONS)
            .wire();
    Names names =
        catalog.names(
            servers.kind(opener),
            servers.visible(opener),
            (member, _) -> probe(member, initialize.bytes(), version, opener));
    boolean pinned = names.members().stream().anyMatch(this::isPinned);
    JsonEdit result =
        new JsonEdit()
            .set(JsonEdit.quote(version), "protocolVersion")
            .set(names.capabilities(), "capabilities")
            .set("\"holdfast\"", "serverInfo", "name")
            .set(JsonEdit.quote(this.version), "serverInfo", "version");
    String instructions = names.instructions(INSTRUCTIONS_PER_SERVER);
    if (instructions != null) {
      result.set(JsonEdit.quote(instructions), "instructions");
    }
    return new Handshake(
        JsonRpcMessages.result(initialize.id(), result.toJson()),
        new UpstreamLink(pinned ? PINNED_MARK : MARK, version),
        List.of());
  }

  private boolean isPinned(Names.Member member) {
    return member.offer() != null
        ? member.offer().isPinned()
        : servers.byName().containsKey(member.name())
            && servers.server(member.name()).placement(new UpstreamLink(null, "")).pinned();
  }

  /** Reads the lists of a server in a session of their own. */
  private Offer probe(String member, byte[] initialize, String version, Caller caller) {
    Upstream server = servers.server(member);
    Caller sender = Members.forServer(server, caller);
    Handshake handshake = MemberSessions.initialize(server, initialize, version, sender);
    UpstreamLink link = handshake.link();
    if (link == null) {
      throw new UpstreamException.Broken("it refused a session", null);
    }
    UpstreamSession session = server.attach(link.with(sender));
    try {
      session.send(MemberSessions.INITIALIZED);
      boolean pinned = server.placement(link).pinned();
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
    byte[] initialize =
        members
            .memory(merged)
            .find(SessionMemory.INITIALIZE)
            .orElseThrow(UpstreamException.SessionGone::new)
            .getBytes(UTF_8);
    return probe(member, initialize, merged.protocolVersion(), merged.sender());
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
    for (String list : List.of("tools", "prompts", "resources")) {
      byte[] change = JsonRpcMessages.of("notifications/" + list + "/list_changed").toBytes();
      listening
          .values()
          .forEach(streams -> {
            if (kind.equals(streams.kind())) {
              streams.tell(change);
            }
          });
    }
  }

  /** Opens the standalone stream of a session, as {@link UpstreamSession#listen} does. */
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

  /** The names as callers got them last; null if nobody has asked. */
  public @Nullable Names latest() {
    return catalog.latest();
  }

  @Override
  public Profile profile() {
    return servers.profile();
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new MergedSession(this, members, link, held);
  }

  @Override
  public ToolName tool(String name, Caller caller) {
    Names known = catalog.known(servers.kind(caller));
    return Optional.ofNullable(known)
        .flatMap(names -> names.find(Offer.Kind.TOOL, name))
        .map(target -> new ToolName(target.member(), target.original()))
        .orElseGet(() -> new ToolName(null, name));
  }

  @Override
  public Placement placement(UpstreamLink link) {
    boolean pinned = isPinned(link);
    return new Placement(Placement.MERGED, pinned, pinned, pinned, !pinned);
  }

  @Override
  public boolean mayHaveOpened(UpstreamLink link) {
    return MARK.equals(link.session()) || PINNED_MARK.equals(link.session());
  }

  /** Does nothing: each server's session is opened again when it is needed. */
  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {}

  @Override
  public void close() {
    new ArrayList<>(listening.values()).forEach(StandaloneStreams::close);
  }
}
