package dev.holdfast.deploy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code holdfast} at the top of the project. */
@Timeout(300)
class RunScriptIT {

  private static final Path SCRIPT = Path.of("holdfast").toAbsolutePath();

  @TempDir private Path elsewhere;

  /** An MCP client starts it from any directory, and knows no JDK. */
  @Test
  void shouldPassItsArgumentsToTheProgramFromAnywhere() throws Exception {
    assumeTrue(Files.exists(Path.of("target/quarkus-app/quarkus-run.jar")), "no jar was built");
    Path link = Files.createSymbolicLink(elsewhere.resolve("holdfast"), SCRIPT);

    assertThat(run(link, Map.of("JAVA_HOME", "/nowhere"), "key", "--help"))
        .contains("Usage: holdfast key");
    assertThat(Path.of("target/holdfast.jsa")).as("classes for a quick start").exists();
  }

  /** The first thing that a stranger sees must not take minutes. */
  @Test
  void shouldSayAtOnceThatItBuilds() throws Exception {
    Files.copy(SCRIPT, elsewhere.resolve("holdfast"));
    Files.copy(Path.of("mvnw"), elsewhere.resolve("mvnw"));
    Path wrapper = Path.of(".mvn/wrapper/maven-wrapper.properties");
    Files.createDirectories(elsewhere.resolve(wrapper).getParent());
    Files.copy(wrapper, elsewhere.resolve(wrapper));
    Files.createDirectories(elsewhere.resolve("src/main"));
    // No project: the build fails, after the line.
    Files.writeString(elsewhere.resolve("pom.xml"), "");

    assertThat(run(elsewhere.resolve("holdfast"), Map.of()))
        .startsWith("holdfast: building Holdfast, which takes a minute or two\n")
        .contains("[ERROR]");
  }

  private String run(Path script, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(script.toString());
    builder.command().addAll(List.of(arguments));
    builder.directory(elsewhere.toFile()).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    process.waitFor();
    return output;
  }
}
