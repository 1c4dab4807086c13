package dev.holdfast.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the documents say about the chart is true. */
class KubernetesPageTest {

  private static final Pattern VERSION =
      Pattern.compile("<version>([0-9.]+)(?:-SNAPSHOT)?</version>");

  private static final Pattern BLOCK = Pattern.compile("(?s)```yaml\n(.*?)```");

  /** The chart deploys the image of this version. */
  @Test
  void shouldHaveTheVersionOfTheProgram() throws IOException {
    Matcher version = VERSION.matcher(Files.readString(Path.of("pom.xml")));

    assertThat(version.find()).isTrue();
    assertThat(
            Yaml.read(Chart.RELEASED.directory().resolve("Chart.yaml")).path("appVersion").asText())
        .isEqualTo(version.group(1));
  }

  /** Other tests render the examples. */
  @Test
  void shouldShowExamplesOfTheChart() throws IOException {
    List<String> shown =
        BLOCK
            .matcher(Files.readString(Path.of("docs", "kubernetes.md")))
            .results()
            .map(match -> match.group(1))
            .toList();
    Set<String> examples =
        Chart.RELEASED.valuesFiles().stream()
            .map(KubernetesPageTest::text)
            .collect(Collectors.toSet());

    assertThat(shown).isNotEmpty().isSubsetOf(examples);
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
