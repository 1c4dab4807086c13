package dev.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The files of the page: small, and from nowhere else. */
class ConsoleFilesTest {

  private static final Path DIRECTORY = Path.of("src/main/resources/dev/holdfast/console");
  private static final int MOST_BYTES = 200_000;

  /** The name of the namespace of drawings is a URL that nobody loads. */
  private static final String NAMESPACE = "http://www.w3.org/2000/svg";

  private static final Pattern ADDRESS = Pattern.compile("https?://[^\\s'\"`)]*");

  private static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(DIRECTORY)) {
      return files.toList();
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Test
  void shouldBeSmall() throws IOException {
    assertThat(files().stream().mapToLong(file -> text(file).length()).sum())
        .isBetween(1L, (long) MOST_BYTES);
  }

  @Test
  void shouldLoadNothingFromOtherHosts() throws IOException {
    assertThat(
            files().stream()
                .flatMap(file -> ADDRESS.matcher(text(file)).results())
                .map(MatchResult::group)
                // The port for clients, at the host of the page.
                .filter(address -> !address.startsWith("http://${location.hostname}")))
        .containsOnly(NAMESPACE);
  }

  /** A text of a peer would become markup there. */
  @Test
  void shouldMakeNoMarkupOfTexts() throws IOException {
    assertThat(files())
        .allSatisfy(file ->
            assertThat(text(file))
                .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write")
                .doesNotContain("eval(", "new Function"));
  }
}
