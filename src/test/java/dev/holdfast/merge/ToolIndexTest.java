package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.protocol.JsonEdit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ToolIndexTest {

  private static final Path DATA = Path.of("src", "test", "resources", "dev", "holdfast", "merge");

  /** Questions of people, each with the one tool that answers it, must find that tool. */
  @Test
  void shouldFindTheRightToolForQuestions() throws IOException {
    List<String> servers = new ArrayList<>();
    List<String> names = new ArrayList<>();
    List<String> tools = new ArrayList<>();
    for (String line : Files.readAllLines(DATA.resolve("tools.jsonl"))) {
      String server = text(line, "server");
      String name = server + "__" + text(line, "tool", "name");
      String tool = Objects.requireNonNull(JsonEdit.raw(line.getBytes(UTF_8), "tool"));
      servers.add(server);
      names.add(name);
      tools.add(new JsonEdit().set(JsonEdit.quote(name), "name").apply(tool));
    }
    ToolIndex index = new ToolIndex(tools, servers);

    List<String> questions = Files.readAllLines(DATA.resolve("questions.txt"));
    int first = 0;
    int amongFive = 0;
    StringBuilder missed = new StringBuilder();
    for (String question : questions) {
      String[] toolAndText = question.split(" ", 2);
      int right = names.indexOf(toolAndText[0]);
      List<Integer> found = index.search(toolAndText[1]);
      int place = found.indexOf(right);
      first += place == 0 ? 1 : 0;
      amongFive += place >= 0 && place < 5 ? 1 : 0;
      if (place < 0 || place >= 5) {
        missed.append('\n').append(place).append(' ').append(question);
      }
    }

    String row =
        String.format(
            Locale.ROOT,
            "| %d | %d | %d | %.0f %% | %.0f %% |",
            tools.size(),
            servers.stream().distinct().count(),
            questions.size(),
            100.0 * first / questions.size(),
            100.0 * amongFive / questions.size());
    assertThat(Files.readString(Path.of("docs", "merge.md"))).as("missed:" + missed).contains(row);
    assertThat(amongFive).isGreaterThanOrEqualTo(questions.size() * 3 / 4);
  }

  @ParameterizedTest
  @CsvSource({
    "delete a repository, 0",
    "deleting repositories, 0",
    "deletion, 0",
    "repo_id, 1",
    "NUMBER OF COPIES, 1",
    "issue, 2",
    "tracker, 2",
    "Alarme löschen, 3",
  })
  void shouldFindWordsInAnyForm(String query, int tool) {
    ToolIndex index =
        new ToolIndex(
            List.of(
                "{\"name\":\"deleteRepository\"}",
                "{\"name\":\"x\",\"inputSchema\":{\"properties\":{"
                    + "\"repo_id\":{\"type\":\"string\"},"
                    + "\"n\":{\"description\":\"Number of copies\"},\"any\":true}}}",
                "{\"name\":\"open.issue\",\"title\":\"In the tracker\"}",
                "{\"name\":\"y\",\"description\":\"Löschen eines Alarms\"}"),
            List.of("a", "b", "c", "d"));

    assertThat(index.search(query)).first().isEqualTo(tool);
  }

  @Test
  void shouldFindNothingWithoutCommonWords() {
    ToolIndex index = new ToolIndex(List.of("{\"name\":\"the_open\"}"), List.of("a"));

    assertThat(index.search("close")).isEmpty();
    assertThat(index.search("the")).isEmpty();
    assertThat(index.search("")).isEmpty();
    assertThat(new ToolIndex(List.of(), List.of()).search("open")).isEmpty();
  }

  private static String text(String json, String... path) {
    return String.valueOf(JsonEdit.text(JsonEdit.raw(json.getBytes(UTF_8), path)));
  }
}
