package dev.holdfast.agent;

import dev.holdfast.agent.AgentEvent.State;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.regex.Pattern;

/** The agent sessions of one MCP session, on the replica to which it is pinned. Thread-safe. */
final class SessionAgents {

  /** First letter of the names of the streams. {@code TakeOver} recognizes them by this letter. */
  private static final String PREFIX = "A";

  private static final Pattern NAME = Pattern.compile(PREFIX + "[1-9][0-9]{0,8}");

  private final LogKey key;
  private final EventLog log;
  private final Agent.Resources resources;
  private final String opener;
  private final int maxAgents;
  private final ChangeSignal changes = new ChangeSignal();
  private final AutoLock lock = new AutoLock();
  private final Map<Integer, Agent> agents = new ConcurrentSkipListMap<>();

  /** Number of the latest agent. Guarded by the lock. */
  private int latest;

  /** Guarded by the lock. */
  private boolean ended;

  SessionAgents(LogKey key, EventLog log, Agent.Resources resources, String opener, int maxAgents) {
    this.opener = opener;
    this.key = key;
    this.log = log;
    this.resources = resources;
    this.maxAgents = maxAgents;
  }

  /** Tells if the MCP session has ended, so that no more events come. */
  boolean hasEnded() {
    try (var _ = lock.hold()) {
      return ended;
    }
  }

  ChangeSignal changes() {
    return changes;
  }

  EventLog log() {
    return log;
  }

  StreamRef stream(String name) {
    return new StreamRef(key, name);
  }

  /** The agents that are not closed, oldest first. */
  List<Agent> all() {
    agents.values().removeIf(agent -> agent.state() == State.CLOSED);
    return List.copyOf(agents.values());
  }

  /** Opens a session without a process. Throws {@link RefusedException} if there are too many. */
  Agent open() {
    try (var _ = lock.hold()) {
      if (ended) {
        throw new RefusedException("The MCP session has ended.");
      }
      if (all().size() >= maxAgents) {
        throw new RefusedException(
            "This MCP session has %d agent sessions, the most it may have. Close one first."
                .formatted(maxAgents));
      }
      Agent agent = newAgent(openStream());
      agents.put(latest, agent);
      return agent;
    }
  }

  /** Skips the names of sessions that were closed before this replica adopted the others. */
  private StreamWriter openStream() {
    while (true) {
      latest++;
      try {
        return log.openUnfollowed(stream(PREFIX + latest), null);
      } catch (LogException.Fenced nameIsTaken) {
        // The next name may be free.
      } catch (LogException.TooManyStreams full) {
        throw new RefusedException("This MCP session has too many open streams. Try again later.");
      }
    }
  }

  private Agent newAgent(StreamWriter writer) {
    return new Agent(writer.stream().name(), new AgentLog(log, writer), resources, opener, changes);
  }

  /** Continues an agent session of a lost replica. */
  void adopt(SharedLog.AdoptedStream stream) {
    Agent agent = newAgent(stream.writer());
    agent.adopt();
    try (var _ = lock.hold()) {
      int number = Integer.parseInt(agent.name().substring(1));
      agents.put(number, agent);
      latest = Math.max(latest, number);
    }
    changes.change();
  }

  /** Finds an open agent session; throws {@link RefusedException}. */
  Agent find(String name) {
    return open(name).orElseThrow(() -> unknown(name));
  }

  private Optional<Agent> open(String name) {
    return all().stream().filter(agent -> agent.name().equals(name)).findFirst();
  }

  private static RefusedException unknown(String name) {
    return new RefusedException("There is no open agent session " + name + ".");
  }

  /** Reads the events of a session that may be closed, as {@link AgentLog#read} does. */
  List<AgentEvent> read(String name, long since, int limit) {
    if (!NAME.matcher(name).matches()) {
      throw unknown(name);
    }
    AgentLog events = open(name).map(Agent::events).orElse(null);
    if (events == null) {
      return AgentLog.read(log, stream(name), Position.START, since, limit);
    }
    if (events.isAfterLast(since)) {
      throw new RefusedException(
          "since_index is after the last event, %d.".formatted(events.last()));
    }
    return events.read(since, limit);
  }

  /** Kills all processes. Appends nothing more. */
  void end() {
    try (var _ = lock.hold()) {
      ended = true;
      agents.values().forEach(Agent::abandon);
    }
    changes.change();
  }

  /** Waits for the ends of the processes. Returns false after the timeout. */
  boolean awaitEnd(Duration timeout) throws InterruptedException {
    boolean all = true;
    for (Agent agent : agents.values()) {
      all &= agent.awaitEnd(timeout);
    }
    return all;
  }
}
