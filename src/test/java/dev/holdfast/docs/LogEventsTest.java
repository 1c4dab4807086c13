package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/logs.md} lists exactly the lines of level INFO and above that the program logs. */
class LogEventsTest {

  private static final String TEXT = "\"((?:[^\"\\\\]|\\\\.)*)\"";
  private static final List<Pattern> CALLS =
      List.of(
          Pattern.compile("\\bLOG\\s*\\.(?:info|warn|error)f?\\(\\s*(?:[\\w.()]+,\\s*)?" + TEXT),
          Pattern.compile("\\.(?:info|warn)\\(\\s*LOG,\\s*" + TEXT),
          Pattern.compile("\\.log\\(\\s*LOG,[^;]*?\\(\\) ->\\s*" + TEXT));

  /** A level that a test can see, in a call whose text is not a constant. */
  private static final Pattern UNREADABLE =
      Pattern.compile("\\bLOG\\s*\\.(?:info|warn|error)f?\\(\\s*+(?![\\w.()]+,\\s*\"|\")");

  /** Warnings about the configuration, which are sentences of their own. */
  private static final String ADVICE = "LOG.warn(advice(key))";

  /**
   * Lines that no test can cause with real parts: defects that are not known, and a process that
   * even SIGKILL does not end.
   */
  private static final Set<String> UNPROVOKED =
      Set.of(
          "configuration file not applied completely",
          "connection failed unexpectedly",
          "process cannot be ended",
          "reading the slots of the cluster failed unexpectedly");

  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\| [A-Z, ]+ \\|");

  @Test
  void shouldListEachLine() throws IOException {
    Set<String> logged = new TreeSet<>();
    for (String source : sources("src/main/java")) {
      for (Pattern call : CALLS) {
        call.matcher(source).results().forEach(match -> logged.add(event(match.group(1))));
      }
    }

    assertThat(documented()).hasSizeGreaterThan(50).isEqualTo(logged);
  }

  /** Each line is there because something happens. A test lets it happen and looks at the log. */
  @Test
  void shouldProduceEachLineInATest() throws IOException {
    Set<String> missing = documented();
    for (String test : sources("src/test/java")) {
      if (!test.contains("class LogEventsTest ")) {
        missing.removeIf(test::contains);
      }
    }

    assertThat(missing).isEqualTo(UNPROVOKED);
  }

  @Test
  void shouldFindEachCall() throws IOException {
    for (String source : sources("src/main/java")) {
      assertThat(source.replace(ADVICE, "")).doesNotContainPattern(UNREADABLE);
    }
  }

  private static Set<String> documented() throws IOException {
    Set<String> documented = new TreeSet<>();
    ROW.matcher(Files.readString(Path.of("docs/logs.md")))
        .results()
        .forEach(row -> documented.add(row.group(1)));
    return documented;
  }

  private static List<String> sources(String directory) throws IOException {
    try (Stream<Path> files = Files.walk(Path.of(directory))) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .map(LogEventsTest::read)
          .toList();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** The sentence before the first {@code key=value}. */
  private static String event(String text) {
    return text.replaceFirst("\\s[\\w-]+=.*|\\s%s.*", "").strip();
  }
}
