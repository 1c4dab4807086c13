package dev.holdfast.agent;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.agent.AgentEvent.State;
import dev.holdfast.upstream.local.NoArguments;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Size;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The tools with which a client drives agents. */
final class AgentTools {

  /** Maximum length of a message, in characters. */
  static final int MAX_MESSAGE = 100_000;

  /** Maximum number of events of one poll. */
  static final int MAX_EVENTS = 1000;

  /** Maximum wait of one poll, in milliseconds. */
  static final int MAX_WAIT = 30_000;

  private AgentTools() {}

  static List<Tool<?>> of(AgentSessions sessions) {
    return List.of(
        new SessionTool<>(
            sessions,
            "session_message",
            "Sends a message to a coding agent, in a new session or in an existing one. Returns at"
                + " once; session_events has what the agent does.",
            Message.class,
            Started.class,
            (given, agents, _) -> send(given, agents)),
        new SessionTool<>(
            sessions,
            "session_events",
            "Returns the events of a session after an index: state changes, tool uses, messages,"
                + " errors, and the end of the answer.",
            Poll.class,
            Page.class,
            AgentTools::poll),
        new SessionTool<>(
            sessions,
            "session_list",
            "Lists the open sessions of this client.",
            NoArguments.class,
            Sessions.class,
            (_, agents, _) -> new Sessions(agents.all().stream().map(SessionInfo::of).toList())),
        action(
            sessions,
            "session_interrupt",
            "Stops the agent of a session. Its end event follows; the session stays open.",
            Agent::interrupt),
        action(
            sessions,
            "session_close",
            "Stops the agent of a session and closes the session. Its events remain for a while.",
            Agent::close));
  }

  /** A tool that does something with an open session. */
  private static Tool<SessionName> action(
      AgentSessions sessions, String name, String description, Consumer<Agent> action) {
    return new SessionTool<>(
        sessions,
        name,
        description,
        SessionName.class,
        SessionInfo.class,
        (given, agents, _) -> {
          Agent agent = agents.find(given.session());
          action.accept(agent);
          return SessionInfo.of(agent);
        });
  }

  /** A tool that works with the agents of the session that calls it. */
  private record SessionTool<A extends Record>(
      AgentSessions sessions,
      String name,
      String description,
      Class<A> arguments,
      Class<? extends Record> answer,
      Work<A> work)
      implements Tool<A> {

    interface Work<A> {
      Record call(A given, SessionAgents agents, ToolCall call) throws InterruptedException;
    }

    @Override
    public Optional<Class<? extends Record>> result() {
      return Optional.of(answer);
    }

    @Override
    public ToolResult call(A given, ToolCall call) throws InterruptedException {
      try {
        return ToolResult.of(work.call(given, sessions.named(call.session()), call));
      } catch (RefusedException refused) {
        return ToolResult.error(String.valueOf(refused.getMessage()));
      }
    }
  }

  @RegisterForReflection
  record SessionName(@JsonPropertyDescription("Name of the session.") String session) {}

  /** A session as clients see it. */
  @RegisterForReflection
  record SessionInfo(
      @JsonPropertyDescription("Name of the session.") String session,
      State state,
      @JsonProperty("last_index") @JsonPropertyDescription("Index of its newest event.")
          long lastIndex,
      @JsonProperty("agent_session") @JsonPropertyDescription("The agent's own id of the session.")
          @Nullable String agentSession) {

    static SessionInfo of(Agent agent) {
      return new SessionInfo(
          agent.name(), agent.state(), agent.events().last(), agent.agentSession());
    }
  }

  @RegisterForReflection
  record Sessions(List<SessionInfo> sessions) {}

  @RegisterForReflection
  record Message(
      @JsonPropertyDescription("What the agent should do.") @Size(min = 1, max = MAX_MESSAGE)
          String message,
      @JsonPropertyDescription("Name of the session to continue. Default: a new session.")
          @Nullable String session) {}

  @RegisterForReflection
  record Started(
      @JsonPropertyDescription("Name of the session.") String session,
      @JsonProperty("since_index")
          @JsonPropertyDescription("The events of the answer come after this index.")
          long sinceIndex) {}

  @RegisterForReflection
  record Poll(
      @JsonPropertyDescription("Name of the session; it may be closed.") String session,
      @JsonProperty(value = "since_index", defaultValue = "0")
          @JsonPropertyDescription("Index of the last event that you have; 0 for none.")
          @Min(0)
          long sinceIndex,
      @JsonProperty(defaultValue = "100")
          @JsonPropertyDescription("Maximum number of events.")
          @Min(1)
          @Max(MAX_EVENTS)
          int limit,
      @JsonProperty(value = "wait_ms", defaultValue = "0")
          @JsonPropertyDescription("How long to wait for an event if there is none.")
          @Min(0)
          @Max(MAX_WAIT)
          int waitMs) {}

  @RegisterForReflection
  record Page(
      List<AgentEvent> events,
      @JsonProperty("next_since_index") @JsonPropertyDescription("since_index of the next poll.")
          long nextSinceIndex) {}

  /** Starts or continues a session. */
  private static Started send(Message given, SessionAgents agents) {
    String session = given.session();
    if (session != null) {
      return new Started(session, agents.find(session).message(given.message()));
    }
    Agent agent = agents.open();
    try {
      return new Started(agent.name(), agent.message(given.message()));
    } catch (RefusedException refused) {
      agent.close();
      throw refused;
    }
  }

  /** Returns events, and waits for some if need be. */
  private static Page poll(Poll given, SessionAgents agents, ToolCall call)
      throws InterruptedException {
    long start = System.nanoTime();
    boolean waited = false;
    while (true) {
      long known = agents.changes().count();
      List<AgentEvent> events = agents.read(given.session(), given.sinceIndex(), given.limit());
      Duration left = Duration.ofMillis(given.waitMs()).minusNanos(System.nanoTime() - start);
      if (!events.isEmpty() || !left.isPositive() || agents.hasEnded()) {
        if (waited) {
          events.forEach(event -> report(event, call));
        }
        return new Page(events, events.isEmpty() ? given.sinceIndex() : events.getLast().index());
      }
      boolean _ = agents.changes().await(known, left);
      waited = true;
    }
  }

  private static void report(AgentEvent event, ToolCall call) {
    String detail = event.tool() != null ? event.tool() : event.text();
    String type = event.type().toString().toLowerCase(Locale.ROOT);
    call.progress((double) event.index(), null, detail == null ? type : type + ": " + detail);
  }
}
