package dev.holdfast.agent;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.budget.Shares;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.SharedLog;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** The agents of all MCP sessions that are pinned to this replica. Thread-safe. */
final class AgentSessions {

  private final EventLog log;
  private final Agent.Resources resources;
  private final int maxAgents;
  private final Duration stopTime;

  /** By the gateway's id of the MCP session. */
  private final Map<LogKey, SessionAgents> sessions = new ConcurrentHashMap<>();

  /** Openers of the MCP sessions that began here, by the local server's name of the session. */
  private final Map<String, String> openers = new ConcurrentHashMap<>();

  /** By the local server's name of the MCP session. */
  private final Map<String, SessionAgents> byName = new ConcurrentHashMap<>();

  AgentSessions(AgentSettings settings, EventLog log) {
    this.log = log;
    this.maxAgents = settings.maxSessions();
    // A process ends in at most three steps of this length.
    this.stopTime = settings.process().stopGrace().multipliedBy(3).plusSeconds(1);
    this.resources =
        new Agent.Resources(
            settings.process(),
            settings::format,
            new Semaphore(settings.process().channel().maxSessions()),
            new Shares<>(settings.process().channel().maxSessionsPerOpener()),
            ByteBudget.ofHeap(8, Long.MAX_VALUE));
  }

  private SessionAgents of(LogKey session, String opener) {
    return sessions.computeIfAbsent(
        session, id -> new SessionAgents(id, log, resources, opener, maxAgents));
  }

  void opened(String name, String opener) {
    openers.put(name, opener);
  }

  /** Finds or makes the agents of a session, so that {@link #named} finds them too. */
  SessionAgents use(String session, String name) {
    return byName.computeIfAbsent(
        name, _ -> of(new LogKey(session), openers.getOrDefault(name, Agent.NOBODY)));
  }

  /** Finds the agents of a session that was {@linkplain #use used} before. */
  SessionAgents named(String name) {
    SessionAgents found = byName.get(name);
    if (found == null) {
      throw new RefusedException("The MCP session has ended.");
    }
    return found;
  }

  void adopt(SharedLog.AdoptedStream stream) {
    of(stream.stream().key(), Agent.NOBODY).adopt(stream);
  }

  /**
   * Kills the agents of a session that has ended or is pinned to another replica now.
   *
   * @param session null when the gateway has not recorded it
   */
  void end(@Nullable String session, String name) {
    openers.remove(name);
    byName.remove(name);
    SessionAgents ended = session == null ? null : sessions.remove(new LogKey(session));
    if (ended != null) {
      ended.end();
    }
  }

  /** Kills all agents and waits for their ends: nothing can end them after this process. */
  void close() {
    List<SessionAgents> open = List.copyOf(sessions.values());
    open.forEach(SessionAgents::end);
    try {
      for (SessionAgents each : open) {
        boolean _ = each.awaitEnd(stopTime);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
