package dev.holdfast.agent;

import dev.holdfast.call.Caller;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.SharedLog;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.ForwardingUpstream;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LogLevelStore;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An MCP server whose tools run agent CLIs, each as a child process.
 *
 * <p>A session is pinned to the replica that runs its agents. The events of the agents are in the
 * log, so the session continues on another replica when its own is lost. Only the processes are
 * lost then.
 */
public final class AgentUpstream extends ForwardingUpstream {

  /** The upstream's name, as part of its path. */
  public static final String NAME = "agent";

  private static final Profile PROFILE = Profile.of(Set.of(), false, true);

  /** The agents are children of one process. */
  private static final Placement PLACEMENT = new Placement.Pinned("local", false, false);

  private final ChosenLevels levels;
  private final AgentSessions sessions;

  /**
   * Creates a server without agents.
   *
   * @param levels log levels of the sessions, on all replicas
   * @throws IllegalArgumentException if the settings are invalid
   */
  public AgentUpstream(AgentSettings settings, EventLog log, LogLevelStore levels, String version) {
    this(new AgentSessions(settings, log), new ChosenLevels(levels), version);
  }

  private AgentUpstream(AgentSessions sessions, ChosenLevels levels, String version) {
    super(
        new LocalUpstream(
            new LocalUpstream.ServerFeatures(AgentTools.of(sessions), List.of(), List.of()),
            levels,
            "holdfast-agent",
            version));
    this.levels = levels;
    this.sessions = sessions;
  }

  /** Continues an agent session whose replica was lost. Waits while the store is away. */
  public void adopt(SharedLog.AdoptedStream stream) {
    sessions.adopt(stream);
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    Handshake handshake = super.initialize(initialize, opener);
    UpstreamLink link = handshake.link();
    if (link != null && link.session() != null) {
      sessions.opened(link.session(), opener.share());
    }
    return handshake;
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    String name = String.valueOf(link.session());
    return new AgentSession(upstream.attach(link), name, link.gatewaySession(), sessions, levels);
  }

  @Override
  public Profile profile() {
    return PROFILE;
  }

  @Override
  public Placement placement(UpstreamLink link) {
    return PLACEMENT;
  }

  /** Does nothing: the events are in the log, and the name says the rest. */
  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {}

  /** Kills all agents and waits for their ends. */
  @Override
  public void close() {
    upstream.close();
    sessions.close();
  }

  /**
   * A session of one client.
   *
   * @param session null for a session that ends before the gateway has recorded it
   */
  private record AgentSession(
      UpstreamSession tools,
      String name,
      @Nullable String session,
      AgentSessions sessions,
      ChosenLevels levels)
      implements UpstreamSession {

    @Override
    public Answer request(Body requests) {
      if (session != null) {
        var _ = sessions.use(session, name);
      }
      return tools.request(requests);
    }

    @Override
    public void send(Body messages) {
      tools.send(messages);
    }

    /** The events of the agents; empty before the session is recorded. */
    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      if (session == null) {
        return Optional.empty();
      }
      return Optional.of(
          new AgentFeed(sessions.use(session, name), () -> levels.find(name), after));
    }

    /** Kills the agents. */
    @Override
    public void end() {
      sessions.end(session, name);
      tools.end();
    }
  }
}
