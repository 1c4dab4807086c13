package dev.holdfast.agent;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.agent.AgentEvent.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Any other agent. JSON pointers say what a line means: where a pointer finds a value, the line is
 * an event of its kind.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc6901">RFC 6901, JSON Pointer</a>
 */
final class MappedFormat implements AgentFormat {

  private static final String PROMPT = "{prompt}";
  private static final String SESSION = "{session}";

  /** The names of pointers, which say what a pointer finds. */
  private static final List<String> NAMES =
      List.of("session", "message", "tool", "tool-status", "tool-call", "error", "result");

  private static final Set<String> COMPLETED =
      Set.of("completed", "complete", "success", "succeeded", "done", "ok", "end");
  private static final Set<String> FAILED =
      Set.of("failed", "failure", "error", "declined", "cancelled");

  private final Map<String, JsonPointer> pointers = new HashMap<>();
  private final List<String> resumeArguments;

  /**
   * Creates a format.
   *
   * @param mapping JSON pointers by {@code session}, {@code message}, {@code tool}, {@code
   *     tool-status}, {@code tool-call}, {@code error} and {@code result}
   * @param resumeArguments added to the command to continue a session; <code>{session}</code>
   *     stands for the agent's id
   * @throws IllegalArgumentException for another name, or what is no JSON pointer
   */
  MappedFormat(Map<String, String> mapping, List<String> resumeArguments) {
    mapping.forEach((name, pointer) -> pointers.put(known(name), pointer(name, pointer)));
    this.resumeArguments = List.copyOf(resumeArguments);
  }

  private static String known(String name) {
    String known = name.toLowerCase(Locale.ROOT).replaceAll("[._]", "-");
    if (NAMES.contains(known)) {
      return known;
    }
    throw new IllegalArgumentException(
        "mapping."
            + name
            + " is not a mapping: use one of session, message, tool, tool-status, tool-call, error"
            + " or result");
  }

  private static JsonPointer pointer(String name, String text) {
    try {
      return JsonPointer.compile(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "mapping." + name + " must be a JSON pointer, such as /session/id", e);
    }
  }

  @Override
  public List<String> command(List<String> base, @Nullable String agentSession, String prompt) {
    List<String> command = new ArrayList<>();
    base.forEach(word -> command.add(word.equals(PROMPT) ? prompt : word));
    if (agentSession != null) {
      resumeArguments.forEach(word -> command.add(word.replace(SESSION, agentSession)));
    }
    return command;
  }

  @Override
  public boolean readsPrompt(List<String> base) {
    return !base.contains(PROMPT);
  }

  @Override
  public List<AgentEvent> parse(JsonNode line) {
    List<AgentEvent> events = new ArrayList<>();
    find(line, "session")
        .map(id -> AgentEvent.state(AgentEvent.State.WORKING, id))
        .ifPresent(events::add);
    find(line, "tool")
        .map(name -> AgentEvent.tool(name, status(line), find(line, "tool-call").orElse(null)))
        .ifPresent(events::add);
    find(line, "message").map(AgentEvent::message).ifPresent(events::add);
    find(line, "error").map(AgentEvent::error).ifPresent(events::add);
    find(line, "result").map(AgentEvent::result).ifPresent(events::add);
    return events;
  }

  private Status status(JsonNode line) {
    String known = find(line, "tool-status").orElse("").toLowerCase(Locale.ROOT);
    return COMPLETED.contains(known)
        ? Status.COMPLETED
        : FAILED.contains(known) ? Status.FAILED : Status.STARTED;
  }

  private Optional<String> find(JsonNode line, String name) {
    return Optional.ofNullable(pointers.get(name))
        .map(line::at)
        .filter(found -> !found.isMissingNode() && !found.isNull())
        .map(found -> found.isValueNode() ? found.asText() : found.toString());
  }
}
