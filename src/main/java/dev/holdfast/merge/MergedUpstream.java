package dev.holdfast.merge;

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
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Several servers as one. Thread-safe.
 *
 * <p>A session with it is one of the gateway, with sessions at the servers that are used. If one of
 * the servers lives in a process of one replica, the whole session does.
 */
public final class MergedUpstream implements Upstream {

  private static final int INSTRUCTIONS_PER_SERVER = 16_000;

  private final Members servers;
  private final SharedServers shared;
  private final String version;

  /**
   * Merges servers.
   *
   * @param upstreams returns the servers by name
   * @param held budget of messages that wait for their readers
   * @param version of this program
   */
  public MergedUpstream(
      MergeSettings settings,
      Supplier<Map<String, Upstream>> upstreams,
      ServerRules rules,
      SessionStore store,
      ByteBudget held,
      String version) {
    this.servers = new Members(settings.servers(), upstreams, rules);
    this.shared = new SharedServers(servers, new MemberSessions(store, servers), settings, held);
    this.version = version;
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    String version =
        ProtocolVersion.parseWithSessions(InitializeRequest.read(initialize).protocolVersion())
            .orElse(ProtocolVersion.NEWEST_WITH_SESSIONS)
            .wire();
    Names names = shared.names(initialize.bytes(), version, opener);
    boolean pinned = names.members().stream().anyMatch(shared::isPinned);
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
        new UpstreamLink(pinned ? MemberSessions.PINNED : MemberSessions.MARK, version),
        List.of());
  }

  /**
   * The names of an endpoint, for a caller who may use all servers, but no tool with a scope.
   *
   * @param tools by server, in alphabetical order
   * @param dropped what has no name, with the reasons
   * @param unavailable reasons of the servers that cannot be used now
   */
  public record Survey(
      Map<String, List<String>> tools, List<String> dropped, Map<String, String> unavailable) {}

  /** Asks all servers, as a client that opens a session does. */
  public Survey survey(Message.Request initialize) {
    String newest = ProtocolVersion.NEWEST_WITH_SESSIONS.wire();
    Names names = shared.allNames(initialize.bytes(), newest);
    return new Survey(names.tools(), names.dropped(), names.problems());
  }

  @Override
  public Profile profile() {
    return servers.profile();
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new MergedSession(shared, link);
  }

  @Override
  public ToolName tool(Message.Request call, Caller caller) {
    String direct = shared.hasSearch() ? SearchTools.nameIn(call) : call.toolName();
    String name = direct == null ? String.valueOf(call.toolName()) : direct;
    return Optional.ofNullable(shared.known(caller))
        .flatMap(names -> names.find(Offer.Kind.TOOL, name))
        .map(target -> new ToolName(target.member(), target.original()))
        .orElseGet(() -> new ToolName(null, name));
  }

  @Override
  public Placement placement(UpstreamLink link) {
    return MemberSessions.isPinned(link)
        ? new Placement.Pinned("merged", true, true)
        : new Placement.InProcess("merged", true, false);
  }

  @Override
  public boolean mayHaveOpened(UpstreamLink link) {
    return MemberSessions.MARK.equals(link.session()) || MemberSessions.isPinned(link);
  }

  @Override
  public Map<String, UpstreamLink> members(UpstreamLink link) {
    return shared.members().stored(link);
  }

  /** Does nothing: each server's session is opened again when it is needed. */
  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {}

  @Override
  public void close() {
    shared.close();
  }
}
