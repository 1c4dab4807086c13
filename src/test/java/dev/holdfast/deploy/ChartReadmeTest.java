package dev.holdfast.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The table of values in the chart's README.md is made from values.yaml, which explains each. */
class ChartReadmeTest {

  private static final Path README = Chart.RELEASED.directory().resolve("README.md");
  private static final Path VALUES = Chart.RELEASED.directory().resolve("values.yaml");

  private static final String HEAD = "| value | default | meaning |\n| --- | --- | --- |\n";

  /** What the table should be, to be copied. */
  private static final Path EXPECTED = Path.of("target", "chart-values.md");

  private static final Pattern COMMENT = Pattern.compile("^ *# -- (.+)$");
  private static final Pattern KEY = Pattern.compile("^( *)([A-Za-z]\\w*):.*$");

  @Test
  void shouldListEveryValue() throws IOException {
    String expected = table();
    Files.createDirectories(EXPECTED.getParent());
    Files.writeString(EXPECTED, expected);

    String readme = Files.readString(README);

    assertThat(readme.substring(readme.indexOf(HEAD)))
        .as("copy %s to the end of %s", EXPECTED, README)
        .isEqualTo(expected);
  }

  @Test
  void shouldExplainEveryValue() throws IOException {
    Set<String> explained = explanations().keySet();
    List<String> unexplained = new ArrayList<>();
    collect("", Yaml.read(VALUES), explained, unexplained);

    assertThat(unexplained).isEmpty();
  }

  private static void collect(
      String path, JsonNode value, Set<String> explained, List<String> unexplained) {
    if (explained.contains(path)) {
      return;
    }
    if (!value.isObject() || value.isEmpty()) {
      unexplained.add(path);
      return;
    }
    value
        .properties()
        .forEach(entry -> {
          String name = path.isEmpty() ? entry.getKey() : path + "." + entry.getKey();
          collect(name, entry.getValue(), explained, unexplained);
        });
  }

  private static String table() throws IOException {
    JsonNode values = Yaml.read(VALUES);
    StringBuilder table = new StringBuilder(HEAD);
    explanations()
        .forEach((path, meaning) -> {
          JsonNode value = values.at("/" + path.replace('.', '/'));
          table.append("| `%s` | `%s` | %s |%n".formatted(path, value, meaning));
        });
    return table.toString();
  }

  /** Reads the comments of values.yaml by the paths of the keys below them. */
  private static Map<String, String> explanations() throws IOException {
    Map<String, String> explanations = new LinkedHashMap<>();
    Deque<String> path = new ArrayDeque<>();
    Set<String> seen = new HashSet<>();
    String pending = "";
    for (String line : Files.readAllLines(VALUES)) {
      Matcher comment = COMMENT.matcher(line);
      Matcher key = KEY.matcher(line);
      if (comment.matches()) {
        pending = comment.group(1);
      } else if (key.matches()) {
        while (path.size() > key.group(1).length() / 2) {
          path.removeLast();
        }
        path.addLast(key.group(2));
        String name = String.join(".", path);
        if (!pending.isEmpty() && seen.add(name)) {
          explanations.put(name, pending);
        }
        pending = "";
      }
    }
    return explanations;
  }
}
