package dev.holdfast.agent;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The command line and the JSON lines of one process of an agent. For one thread. */
interface AgentFormat {

  /**
   * Returns the whole command. An agent gets the prompt on its stdin, unless the command has it.
   *
   * @param base the configured command
   * @param agentSession the agent's id of the session to continue; null for a new one
   */
  List<String> command(List<String> base, @Nullable String agentSession, String prompt);

  /** Returns whether the prompt goes to stdin, and not into the command. */
  default boolean readsPrompt(List<String> base) {
    return true;
  }

  /** Returns the events of the next line; none if the line is of an unknown kind. */
  List<AgentEvent> parse(JsonNode line);
}
