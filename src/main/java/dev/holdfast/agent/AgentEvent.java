package dev.holdfast.agent;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.upstream.local.LogLevel;
import io.quarkus.runtime.annotations.RegisterForReflection;
import org.jspecify.annotations.Nullable;

/**
 * Something that an agent did. Components that do not belong to the type are null.
 *
 * @param session name of the agent session
 * @param index number of the event in its session: 1, 2, 3, …
 * @param agentSession the agent's own id of the session, with which it is resumed
 * @param call the agent's id of a tool use
 * @param line a line of the agent as it came
 */
@RegisterForReflection
public record AgentEvent(
    String session,
    long index,
    Type type,
    @JsonPropertyDescription("state: the new state of the session.") @Nullable State state,
    @JsonProperty("agent_session")
        @JsonPropertyDescription("state: the agent's own id of the session.")
        @Nullable String agentSession,
    @JsonPropertyDescription("tool: the name of the tool.") @Nullable String tool,
    @JsonPropertyDescription("tool: how far its use is.") @Nullable Status status,
    @JsonPropertyDescription("tool: the agent's id of the use.") @Nullable String call,
    @JsonPropertyDescription("message, error, end, lost: the text.") @Nullable String text,
    @JsonPropertyDescription("end: why the agent ended.") @Nullable Reason reason,
    @JsonProperty("exit_code") @JsonPropertyDescription("end: exit code of the process.")
        @Nullable Integer exitCode,
    @JsonPropertyDescription("raw: a line of the agent that means none of the other types.")
        @Nullable String line) {

  /** Kind of an event, and its severity for clients that follow a stream. */
  @RegisterForReflection
  public enum Type {
    /** The working state changed. */
    @JsonProperty("state")
    STATE(LogLevel.INFO),
    /** The use of a tool began or ended. */
    @JsonProperty("tool")
    TOOL(LogLevel.INFO),
    /** The agent wrote to its user. */
    @JsonProperty("message")
    MESSAGE(LogLevel.NOTICE),
    /** Something failed. The agent may continue. */
    @JsonProperty("error")
    ERROR(LogLevel.ERROR),
    /** The process of the agent has ended. */
    @JsonProperty("end")
    END(LogLevel.NOTICE),
    /** The process was lost with the replica that ran it, or the gateway failed and stopped it. */
    @JsonProperty("lost")
    LOST(LogLevel.ERROR),
    /** A line of another kind. */
    @JsonProperty("raw")
    RAW(LogLevel.DEBUG);

    private final LogLevel level;

    Type(LogLevel level) {
      this.level = level;
    }

    /** Returns the level of its log messages. */
    public LogLevel level() {
      return level;
    }
  }

  /** Working state of an agent. */
  @RegisterForReflection
  public enum State {
    /** The process was started and has reported nothing yet. */
    @JsonProperty("starting")
    STARTING,
    @JsonProperty("working")
    WORKING,
    /** The agent waits for the next message. */
    @JsonProperty("idle")
    IDLE,
    /** The process was lost. The next message starts another one. */
    @JsonProperty("lost")
    LOST,
    @JsonProperty("closed")
    CLOSED;

    /** Returns whether a process runs. */
    @JsonIgnore
    public boolean isRunning() {
      return this == STARTING || this == WORKING;
    }
  }

  /** Progress of the use of a tool. */
  @RegisterForReflection
  public enum Status {
    @JsonProperty("started")
    STARTED,
    @JsonProperty("completed")
    COMPLETED,
    @JsonProperty("failed")
    FAILED
  }

  /** Reason why a process has ended. */
  @RegisterForReflection
  public enum Reason {
    @JsonProperty("completed")
    COMPLETED,
    @JsonProperty("failed")
    FAILED,
    @JsonProperty("interrupted")
    INTERRUPTED,
    @JsonProperty("closed")
    CLOSED
  }

  private static AgentEvent of(
      Type type,
      @Nullable State state,
      @Nullable String agentSession,
      @Nullable String text,
      @Nullable String line) {
    return new AgentEvent(
        "", 0, type, state, agentSession, null, null, null, text, null, null, line);
  }

  static AgentEvent state(State state, @Nullable String agentSession) {
    return of(Type.STATE, state, agentSession, null, null);
  }

  static AgentEvent tool(String name, Status status, @Nullable String call) {
    return new AgentEvent("", 0, Type.TOOL, null, null, name, status, call, null, null, null, null);
  }

  static AgentEvent message(String text) {
    return of(Type.MESSAGE, null, null, text, null);
  }

  static AgentEvent error(String text) {
    return of(Type.ERROR, null, null, text, null);
  }

  static AgentEvent lost(String text) {
    return of(Type.LOST, State.LOST, null, text, null);
  }

  static AgentEvent raw(String line) {
    return of(Type.RAW, null, null, null, line);
  }

  /** The final result of an agent; its reason is known when the process has ended. */
  static AgentEvent result(@Nullable String text) {
    return of(Type.END, null, null, text, null);
  }

  AgentEvent ended(Reason why, @Nullable Integer code) {
    return new AgentEvent("", 0, Type.END, null, null, null, null, null, text, why, code, null);
  }

  AgentEvent at(String name, long number) {
    return new AgentEvent(
        name, number, type, state, agentSession, tool, status, call, text, reason, exitCode, line);
  }
}
