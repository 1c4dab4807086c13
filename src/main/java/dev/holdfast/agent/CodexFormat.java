package dev.holdfast.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.agent.AgentEvent.Status;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Codex: {@code codex exec --json -}, and {@code codex exec --json resume ID -} to continue; the
 * dash reads the prompt from stdin. Its lines are {@code thread.started}, {@code turn.started},
 * {@code turn.completed}, {@code turn.failed}, {@code item.started}, {@code item.updated}, {@code
 * item.completed} and {@code error}. Older versions call {@code item.type} {@code item_type}.
 *
 * <p>Options stand before {@code resume}: not all versions accept them after it.
 *
 * @see <a href="https://developers.openai.com/codex/noninteractive">Codex, Non-interactive mode</a>
 * @see <a href="https://github.com/openai/codex/pull/4177">The pull request that defined the
 *     lines</a>
 */
final class CodexFormat implements AgentFormat {

  @Override
  public List<String> command(List<String> base, @Nullable String agentSession, String prompt) {
    List<String> command = new ArrayList<>(base);
    command.add("--json");
    if (agentSession != null) {
      command.addAll(List.of("resume", agentSession));
    }
    command.add("-");
    return command;
  }

  @Override
  public List<AgentEvent> parse(JsonNode line) {
    return switch (line.path("type").asText()) {
      case "thread.started" ->
          List.of(AgentEvent.state(AgentEvent.State.WORKING, line.path("thread_id").textValue()));
      case "turn.started" -> List.of(AgentEvent.state(AgentEvent.State.WORKING, null));
      case "turn.completed" -> List.of(AgentEvent.result(null));
      case "turn.failed" -> List.of(AgentEvent.error(line.at("/error/message").asText()));
      case "error" -> List.of(AgentEvent.error(line.path("message").asText()));
      case "item.started" -> item(line.path("item"), false);
      case "item.completed" -> item(line.path("item"), true);
      default -> List.of();
    };
  }

  private static List<AgentEvent> item(JsonNode item, boolean completed) {
    String kind = item.path("type").asText(item.path("item_type").asText());
    return switch (kind) {
      case "agent_message", "assistant_message" ->
          completed ? List.of(AgentEvent.message(item.path("text").asText())) : List.of();
      case "error" -> List.of(AgentEvent.error(item.path("message").asText()));
      case "mcp_tool_call" ->
          List.of(
              tool(
                  item.path("server").asText() + "/" + item.path("tool").asText(),
                  item,
                  completed));
      case "command_execution", "file_change", "web_search" -> List.of(tool(kind, item, completed));
      default -> List.of();
    };
  }

  private static AgentEvent tool(String name, JsonNode item, boolean completed) {
    Status status =
        switch (item.path("status").asText()) {
          case "failed", "declined" -> Status.FAILED;
          default -> completed ? Status.COMPLETED : Status.STARTED;
        };
    return AgentEvent.tool(name, status, item.path("id").textValue());
  }
}
