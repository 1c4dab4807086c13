package dev.holdfast.agent;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.agent.AgentEvent.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Claude Code: {@code claude -p --output-format stream-json --verbose}, and {@code --resume} to
 * continue. Its lines are {@code system} ({@code init}), {@code assistant} and {@code user} with
 * content blocks, and at the end {@code result}. Print mode needs {@code --verbose} for this
 * format.
 *
 * @see <a href="https://code.claude.com/docs/en/headless">Claude Code, Headless mode</a>
 * @see <a href="https://code.claude.com/docs/en/agent-sdk/typescript">Agent SDK, message types</a>
 */
final class ClaudeFormat implements AgentFormat {

  /** Tool uses without a result whose names are known. */
  private static final int MAX_OPEN_CALLS = 1000;

  /** By the id of the use. */
  private final Map<String, String> toolNames = new HashMap<>();

  @Override
  public List<String> command(List<String> base, @Nullable String agentSession, String prompt) {
    List<String> command = new ArrayList<>(base);
    if (!base.contains("-p") && !base.contains("--print")) {
      command.add("-p");
    }
    command.addAll(List.of("--output-format", "stream-json", "--verbose"));
    if (agentSession != null) {
      command.addAll(List.of("--resume", agentSession));
    }
    return command;
  }

  @Override
  public List<AgentEvent> parse(JsonNode line) {
    return switch (line.path("type").asText()) {
      case "system" ->
          line.path("subtype").asText().equals("init")
              ? List.of(
                  AgentEvent.state(AgentEvent.State.WORKING, line.path("session_id").textValue()))
              : List.of();
      case "assistant", "user" -> blocks(line);
      case "result" -> result(line);
      default -> List.of();
    };
  }

  /** A line with any other block, such as thinking, also stays as it is. */
  private List<AgentEvent> blocks(JsonNode line) {
    boolean assistant = line.path("type").asText().equals("assistant");
    List<AgentEvent> events = new ArrayList<>();
    for (JsonNode block : line.path("message").path("content")) {
      switch (block.path("type").asText()) {
        case "text" ->
            events.add(
                assistant
                    ? AgentEvent.message(block.path("text").asText())
                    : AgentEvent.raw(block.toString()));
        case "tool_use" -> events.add(toolUse(block));
        case "tool_result" -> events.add(toolResult(block));
        default -> events.add(AgentEvent.raw(block.toString()));
      }
    }
    return events;
  }

  private AgentEvent toolUse(JsonNode block) {
    String call = block.path("id").asText();
    String name = block.path("name").asText();
    if (toolNames.size() < MAX_OPEN_CALLS) {
      toolNames.put(call, name);
    }
    return AgentEvent.tool(name, Status.STARTED, call);
  }

  /** A result names only the id of its use. */
  private AgentEvent toolResult(JsonNode block) {
    String call = block.path("tool_use_id").asText();
    String name = toolNames.remove(call);
    return AgentEvent.tool(
        name == null ? "tool" : name,
        block.path("is_error").asBoolean() ? Status.FAILED : Status.COMPLETED,
        call);
  }

  private static List<AgentEvent> result(JsonNode line) {
    String text = line.path("result").textValue();
    AgentEvent result = AgentEvent.result(text);
    String subtype = line.path("subtype").asText();
    return line.path("is_error").asBoolean() || !subtype.equals("success")
        ? List.of(AgentEvent.error(text == null ? subtype : text), result)
        : List.of(result);
  }
}
