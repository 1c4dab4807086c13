package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static dev.holdfast.upstream.local.server.LocalClient.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.demo.TripTool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example in docs/tools.md compiles and behaves as described there. */
@Timeout(30)
class ToolGuideTest {

  private static final Path GUIDE = Path.of("docs/tools.md");
  private static final Path EXAMPLE = Path.of("src/test/java/dev/holdfast/demo/TripTool.java");

  @RegisterExtension final LocalServer server = new LocalServer();

  private JsonNode last(String arguments) {
    List<String> messages =
        drain(
            LocalClient.open(server.of(new TripTool()))
                .call(
                    """
                    {"jsonrpc":"2.0","id":1,"method":"tools/call",
                     "params":{"name":"trip","arguments":%s}}
                    """
                        .formatted(arguments)));
    return tree(messages.getLast()).get("result");
  }

  @Test
  void shouldContainTheExample() throws IOException {
    String example = Files.readString(EXAMPLE);

    assertThat(Files.readString(GUIDE))
        .contains("```java\n" + example.substring(example.indexOf("import ")) + "```");
  }

  /** Packages say in their Javadoc that they are for programs of others. */
  @Test
  void shouldListTheApi() throws IOException {
    // given
    Pattern row = Pattern.compile("(?m)^\\| `(dev\\.holdfast\\.[a-z.]+)` \\|");
    List<String> listed =
        row.matcher(Files.readString(GUIDE)).results().map(match -> match.group(1)).toList();
    Path source = Path.of("src/main/java");

    // when
    List<String> marked;
    try (Stream<Path> files = Files.walk(source)) {
      marked =
          files
              .filter(file -> file.endsWith("package-info.java") && isApi(file))
              .map(file -> source.relativize(file.getParent()).toString().replace('/', '.'))
              .toList();
    }

    // then
    assertThat(listed).containsExactlyInAnyOrderElementsOf(marked);
  }

  private static boolean isApi(Path packageInfo) {
    try {
      return Files.readString(packageInfo).contains("<p>API: ");
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** The build of the example finds the libraries and plugins that this build has. */
  @Test
  void shouldBuildTheExampleWithTheVersionsOfThisProject() throws IOException {
    String project = Files.readString(Path.of("pom.xml")).replaceAll("\\s+", "");
    String example = Files.readString(Path.of("examples/own-tools/pom.xml")).replaceAll("\\s+", "");
    List<String> plugins =
        List.of("resources-plugin", "compiler-plugin", "surefire-plugin", "jar-plugin");

    assertThat(plugins)
        .allSatisfy(
            plugin -> assertThat(version(example, plugin)).isEqualTo(version(project, plugin)));
    assertThat(property(example, "version.quarkus"))
        .isEqualTo(property(project, "version.quarkus"));
    assertThat(project)
        .contains("<version>" + property(example, "version.holdfast") + "</version>");
  }

  private static String version(String pom, String plugin) {
    String artifact = "<artifactId>maven-" + plugin + "</artifactId><version>";
    String version = between(pom, artifact, "</version>");
    return version.startsWith("${") ? property(pom, version.replaceAll("[${}]", "")) : version;
  }

  private static String property(String pom, String name) {
    return between(pom, "<" + name + ">", "</" + name + ">");
  }

  private static String between(String text, String start, String end) {
    assertThat(text).contains(start);
    String rest = text.substring(text.indexOf(start) + start.length());
    return rest.substring(0, rest.indexOf(end));
  }

  @Test
  void shouldReturnTheResultOfTheGuide() {
    assertThat(last("{\"places\":[\"Ulm\",\"Bonn\"],\"travellers\":2}").get("structuredContent"))
        .isEqualTo(tree("{\"legs\":1,\"price\":20}"));
  }

  @Test
  void shouldRefuseTheArgumentsOfTheGuide() throws IOException {
    // when
    JsonNode refused = last("{\"places\":[\"Ulm\"],\"traveller\":2}");

    // then
    assertThat(refused.get("isError").asBoolean()).isTrue();
    assertThat(Files.readString(GUIDE).replaceAll("\\s+(> )?", " "))
        .contains(refused.at("/content/0/text").asText());
  }
}
