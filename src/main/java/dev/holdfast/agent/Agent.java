package dev.holdfast.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.agent.AgentEvent.Reason;
import dev.holdfast.agent.AgentEvent.State;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.budget.Shares;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.LogException;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One agent session: its events, and at most one process, which answers the latest message. Agents
 * that are not working have no process. Thread-safe.
 *
 * <p>An append waits while the store is away. Only {@link #appends} is held then, so that a process
 * can be stopped meanwhile.
 */
final class Agent {

  private static final Logger LOG = Logger.getLogger(Agent.class);

  /** Opener of a session that was opened at another replica. It has no share to exceed. */
  static final String NOBODY = "";

  private final String name;
  private final AgentLog events;
  private final Resources resources;
  private final String opener;
  private final ChangeSignal changes;

  /** Held while events are made and appended. Taken before the other lock, never after it. */
  private final AutoLock appends = new AutoLock();

  private final AutoLock lock = new AutoLock();

  // Written while appends is held.
  private volatile State state = State.IDLE;
  private volatile @Nullable String agentSession;

  // Written under the lock.
  private volatile @Nullable AgentTurn turn;
  private boolean closing;

  /**
   * Nothing is appended any more: the MCP session has ended, or another replica owns the events.
   */
  private volatile boolean abandoned;

  /**
   * Resources that all agents of this replica share.
   *
   * @param formats creates the format of a process
   * @param free limits the processes
   * @param shares limits those of each opener
   * @param held bytes of lines that wait for the log
   */
  record Resources(
      StdioUpstreamSettings program,
      Supplier<AgentFormat> formats,
      Semaphore free,
      Shares<String> shares,
      ByteBudget held) {}

  /** An agent whose events are still to come, or come from another replica: see {@link #adopt}. */
  Agent(String name, AgentLog events, Resources resources, String opener, ChangeSignal changes) {
    this.opener = opener;
    this.name = name;
    this.events = events;
    this.resources = resources;
    this.changes = changes;
  }

  String name() {
    return name;
  }

  AgentLog events() {
    return events;
  }

  State state() {
    State current = state;
    return abandoned && current.isRunning() ? State.LOST : current;
  }

  @Nullable String agentSession() {
    return agentSession;
  }

  /** Continues after a lost replica. If its agent worked, the agent is lost too. */
  void adopt() {
    events.scan(event -> {
      // The last event of a turn is a state. The states before may be purged.
      state = State.WORKING;
      apply(event);
    });
    if (state.isRunning()) {
      append(
          List.of(
              AgentEvent.lost(
                  "The replica that ran the agent was lost, and the agent with it. The next message"
                      + " starts it again.")),
          false);
    }
  }

  private void apply(AgentEvent event) {
    if (event.state() != null) {
      state = event.state();
    }
    if (event.agentSession() != null) {
      agentSession = event.agentSession();
    }
  }

  /**
   * Sends a message: starts a process for it.
   *
   * @return the index after which its events begin
   * @throws RefusedException if the agent is working, or cannot be started now
   */
  long message(String prompt) {
    AgentTurn started = begin(prompt);
    try (var _ = appends.hold()) {
      // The last events of the turn before are in the log now.
      long since = events.last();
      append(List.of(AgentEvent.state(State.STARTING, null)), false);
      return since;
    } finally {
      Thread.ofVirtual().name("agent " + name).start(() -> run(started));
    }
  }

  private AgentTurn begin(String prompt) {
    try (var _ = lock.hold()) {
      requireOpen();
      if (turn != null) {
        throw new RefusedException(
            "Session %s is working. Wait for its end event, or interrupt it.".formatted(name));
      }
      if (!opener.equals(NOBODY) && !resources.shares().tryTake(opener, 1)) {
        throw new RefusedException(
            "%d of your agents are working, the most that one client may have. Try again later."
                .formatted(resources.program().channel().maxSessionsPerOpener()));
      }
      if (!resources.free().tryAcquire()) {
        resources.shares().giveBack(opener, 1);
        throw new RefusedException(
            "All %d agents are working. Try again later."
                .formatted(resources.program().channel().maxSessions()));
      }
      try {
        return start(prompt);
      } catch (UpstreamException.Unreachable | IllegalArgumentException cannotStart) {
        release();
        throw new RefusedException("The agent cannot be started. The log has the reason.");
      }
    }
  }

  private AgentTurn start(String prompt) {
    List<String> base = resources.program().command();
    AgentFormat format = resources.formats().get();
    AgentTurn started =
        new AgentTurn(
            resources.program(),
            format,
            format.command(base, agentSession, prompt),
            resources.held());
    started.begin(format.readsPrompt(base) ? prompt.getBytes(UTF_8) : new byte[0]);
    turn = started;
    if (abandoned) {
      started.abandon(); // The session ended meanwhile, and had no process to kill.
    }
    return started;
  }

  private void release() {
    resources.shares().giveBack(opener, 1);
    resources.free().release();
  }

  private void run(AgentTurn running) {
    try {
      List<AgentEvent> last = copy(running);
      release();
      end(last);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Copies what the agent writes. Returns the last events, when its process has ended. */
  private List<AgentEvent> copy(AgentTurn running) throws InterruptedException {
    try {
      for (var lines = running.take(); !lines.isEmpty(); lines = running.take()) {
        appendLines(running, lines);
      }
      return lastEvents(running, running.awaitEnd());
    } catch (RuntimeException | Error unexpected) {
      LOG.errorf(unexpected, "agent session failed unexpectedly session=%s", name);
      running.abandon();
      int _ = running.awaitEnd();
      return List.of(
          AgentEvent.lost(
              "The gateway failed and stopped the agent. The next message starts it again."));
    }
  }

  private void appendLines(AgentTurn running, List<byte[]> lines) {
    try (var _ = appends.hold()) {
      List<AgentEvent> parsed = new ArrayList<>();
      lines.forEach(line -> parse(running, line, parsed));
      if (!parsed.isEmpty()) {
        append(parsed, false);
      }
    }
  }

  private void parse(AgentTurn running, byte[] line, List<AgentEvent> to) {
    if (line.length == 0) {
      to.add(
          AgentEvent.error(
              "A line of the agent is longer than %d bytes, and was dropped."
                  .formatted(resources.program().channel().maxMessageBytes())));
      return;
    }
    JsonNode json = EventMessages.parse(line);
    List<AgentEvent> parsed = running.format.parse(json);
    if (parsed.isEmpty()) {
      to.add(AgentEvent.raw(new String(line, UTF_8)));
    }
    for (AgentEvent event : parsed) {
      switch (event.type()) {
        case END -> running.result = event.text() == null ? running.result : event;
        case STATE -> add(event, to);
        case TOOL, MESSAGE -> {
          add(AgentEvent.state(State.WORKING, null), to);
          to.add(event);
        }
        case ERROR -> {
          running.failed = true;
          to.add(event);
        }
        case RAW, LOST -> to.add(event);
      }
    }
  }

  /** Adds an event of a changed state. */
  private void add(AgentEvent event, List<AgentEvent> to) {
    String id = event.agentSession();
    if (event.state() != state || (id != null && !id.equals(agentSession))) {
      apply(event);
      to.add(event);
    }
  }

  private List<AgentEvent> lastEvents(AgentTurn ended, int exitCode) {
    List<AgentEvent> last = new ArrayList<>();
    Reason reason = ended.stopped();
    if (reason == null) {
      reason = exitCode == 0 && !ended.failed ? Reason.COMPLETED : Reason.FAILED;
      if (exitCode != 0) {
        last.add(AgentEvent.error("The agent ended with exit code " + exitCode + "."));
      }
    }
    last.add(ended.result.ended(reason, exitCode));
    last.add(AgentEvent.state(State.IDLE, null));
    return last;
  }

  /** Ends a turn. Even if the append fails, the agent is not working afterwards. */
  private void end(List<AgentEvent> last) {
    try (var _ = appends.hold()) {
      boolean closes = endTurn();
      List<AgentEvent> all = new ArrayList<>(last);
      if (closes) {
        all.set(all.size() - 1, AgentEvent.state(State.CLOSED, null));
      }
      try {
        append(all, closes);
      } catch (RuntimeException unexpected) {
        LOG.errorf(unexpected, "agent session failed unexpectedly session=%s", name);
        state = closes ? State.CLOSED : State.LOST;
      }
    }
  }

  /** From here on, another message can start a process. Returns whether the session is closed. */
  private boolean endTurn() {
    try (var _ = lock.hold()) {
      turn = null;
      return closing;
    }
  }

  private void append(List<AgentEvent> batch, boolean last) {
    try (var _ = appends.hold()) {
      if (abandoned || !events.append(batch, last, () -> abandoned)) {
        return;
      }
      batch.forEach(this::apply);
    } catch (LogException.Fenced fenced) {
      LOG.debugf("agent abandoned session=%s: %s", name, fenced.getMessage());
      abandon();
    }
    changes.change();
  }

  /** Stops the process. Its end event follows. Throws {@link RefusedException} without one. */
  void interrupt() {
    try (var _ = lock.hold()) {
      requireOpen();
      if (turn == null) {
        throw new RefusedException("Session %s is not working.".formatted(name));
      }
      turn.stop(Reason.INTERRUPTED);
    }
  }

  /** Stops the process and ends the session. Its events remain. */
  void close() {
    try (var _ = lock.hold()) {
      requireOpen();
      closing = true;
      if (turn != null) {
        turn.stop(Reason.CLOSED);
        return; // The end of the turn closes the session.
      }
    }
    append(List.of(AgentEvent.state(State.CLOSED, null)), true);
  }

  private void requireOpen() {
    if (closing || abandoned) {
      throw new RefusedException("Session %s is closed.".formatted(name));
    }
  }

  /** Kills the process. Appends nothing more: another replica may own the events. */
  void abandon() {
    abandoned = true;
    AgentTurn running = turn;
    if (running != null) {
      running.abandon();
    }
    changes.change();
  }

  /** Waits until the process of an abandoned agent has ended. Returns false after the timeout. */
  boolean awaitEnd(Duration timeout) throws InterruptedException {
    AgentTurn running = turn;
    return running == null || running.awaitEnd(timeout);
  }
}
