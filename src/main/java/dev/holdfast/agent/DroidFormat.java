package dev.holdfast.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.agent.AgentEvent.Status;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Factory Droid: {@code droid exec --output-format stream-json}, and {@code --session-id} to
 * continue. Its lines are {@code system} ({@code init}), {@code message}, {@code tool_call}, {@code
 * tool_result}, {@code completion} and {@code error}.
 *
 * <p>The documentation has no schema of the lines. Fields are taken from recorded runs in public
 * repositories. Some versions name no id in {@code tool_result}. That the prompt may come on stdin
 * is documented; how an agent reports a failure is not, so the exit code counts too.
 *
 * @see <a href="https://docs.factory.ai/cli/droid-exec/overview">Factory, Droid Exec</a>
 * @see <a href="https://github.com/BloopAI/vibe-kanban/issues/889">Its options for streaming and
 *     sessions</a>
 */
final class DroidFormat implements AgentFormat {

  @Override
  public List<String> command(List<String> base, @Nullable String agentSession, String prompt) {
    List<String> command = new ArrayList<>(base);
    command.addAll(List.of("--output-format", "stream-json"));
    if (agentSession != null) {
      command.addAll(List.of("--session-id", agentSession));
    }
    return command;
  }

  @Override
  public List<AgentEvent> parse(JsonNode line) {
    String detail = line.path("subtype").asText(line.path("role").asText());
    return switch ((line.path("type").asText() + " " + detail).strip()) {
      case "system init" ->
          List.of(AgentEvent.state(AgentEvent.State.WORKING, line.path("session_id").textValue()));
      case "message assistant" -> List.of(AgentEvent.message(line.path("text").asText()));
      case "tool_call" -> List.of(tool(line, Status.STARTED));
      case "tool_result" ->
          List.of(tool(line, line.path("isError").asBoolean() ? Status.FAILED : Status.COMPLETED));
      case "completion" -> List.of(AgentEvent.result(line.path("finalText").textValue()));
      case "error" -> List.of(AgentEvent.error(line.path("message").asText()));
      default -> List.of();
    };
  }

  private static AgentEvent tool(JsonNode line, Status status) {
    String id = line.path("toolId").asText("tool");
    return AgentEvent.tool(line.path("toolName").asText(id), status, line.path("id").textValue());
  }
}
