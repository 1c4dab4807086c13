package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Lines that the real programs wrote: Codex 0.169.0 and Claude Code 2.1.197, from npm, in front of
 * a model whose answers a script gave. Names of directories and ports were replaced.
 */
class RecordedAgentsTest {

  private static final Path LINES = Path.of("src/test/resources/dev/holdfast/agent");
  private static final ObjectMapper JSON = new ObjectMapper();

  private static List<String> events(AgentFormat format, String run) throws IOException {
    List<String> events = new ArrayList<>();
    for (String line : Files.readAllLines(LINES.resolve(run + ".jsonl"))) {
      format.parse(JSON.readTree(line)).forEach(event -> events.add(text(event)));
    }
    return events;
  }

  private static String text(AgentEvent event) {
    return Stream.of(
            event.type(),
            event.state(),
            event.agentSession(),
            event.tool(),
            event.status(),
            event.call(),
            event.text(),
            event.line())
        .filter(Objects::nonNull)
        .map(String::valueOf)
        .collect(Collectors.joining(" "));
  }

  @Test
  void shouldReadClaude() throws IOException {
    String session = "00574dac-fb6f-48f7-91f3-d0b692988232";

    assertThat(events(new ClaudeFormat(), "claude-first"))
        .containsExactly(
            "STATE WORKING " + session,
            "TOOL Bash STARTED toolu_1",
            "TOOL Bash COMPLETED toolu_1",
            "MESSAGE The command printed hi.",
            "END The command printed hi.");
    assertThat(events(new ClaudeFormat(), "claude-continued"))
        .containsExactly(
            "STATE WORKING " + session,
            "MESSAGE The command printed hi.",
            "END The command printed hi.");
  }

  @Test
  void shouldReadThatClaudeFailed() throws IOException {
    String why = "There's an issue with the selected model";

    List<String> events = events(new ClaudeFormat(), "claude-failed");

    assertThat(events.getFirst()).startsWith("STATE WORKING ");
    assertThat(events.subList(1, events.size()))
        .satisfiesExactly(
            message -> assertThat(message).startsWith("MESSAGE " + why),
            error -> assertThat(error).startsWith("ERROR " + why),
            end -> assertThat(end).startsWith("END " + why));
  }

  @Test
  void shouldReadCodex() throws IOException {
    String session = "01a20f13-05ce-7c11-b666-d12fed03b17d";
    String warning =
        "ERROR Model metadata for `fake-model` not found. Defaulting to fallback metadata; this can"
            + " degrade performance and cause issues.";

    assertThat(events(new CodexFormat(), "codex-first"))
        .containsExactly(
            "STATE WORKING " + session,
            warning,
            "STATE WORKING",
            "TOOL command_execution STARTED item_1",
            "TOOL command_execution COMPLETED item_1",
            "MESSAGE The command printed hi.",
            "END");
    assertThat(events(new CodexFormat(), "codex-continued"))
        .containsExactly(
            "STATE WORKING " + session,
            warning,
            "STATE WORKING",
            "MESSAGE The command printed hi.",
            "END");
  }

  @Test
  void shouldReadThatCodexFailed() throws IOException {
    assertThat(events(new CodexFormat(), "codex-failed"))
        .endsWith(
            "ERROR unexpected status 404 Not Found: {}, url: http://127.0.0.1:8000/none/responses",
            "ERROR unexpected status 404 Not Found: {}, url: http://127.0.0.1:8000/none/responses");
  }
}
