package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OwnToolsExample;
import dev.holdfast.testing.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code quarkus:dev} serves tools as they were last edited. In the long form only: it compiles.
 */
@Tag("long")
class DevelopmentModeIT {

  private static final Pattern TESTED = Pattern.compile("All (\\d+) tests are passing");
  private static final Duration MOST = Duration.ofMinutes(2);

  private static final Pattern READY = Pattern.compile("Listening on: http://[^:]+:(\\d+)");

  @Test
  void shouldServeEditedToolsOfThisProject(@TempDir Path project) throws IOException {
    // given
    copyProgram(project);
    Path tool = project.resolve("src/main/java/dev/holdfast/demo/Demo.java");
    String arguments = "{\"from\":1,\"intervalMs\":10}";

    try (ServerProcess gateway =
        startGateway(project, "-Dmaven.main.skip", "-Dspotless.check.skip")) {
      assertThat(call(gateway, "countdown", arguments)).contains("liftoff");

      // when, then
      edit(tool, "\"liftoff\"", "\"first edit\"");
      awaitResult(gateway, "countdown", arguments, "first edit");
      edit(tool, "\"first edit\"", "\"second edit\"");
      awaitResult(gateway, "countdown", arguments, "second edit");
    }
  }

  /** Its classes and those of the library are in packages of one class loader. */
  @Test
  void shouldServeEditedToolsOfAnotherProject(@TempDir Path directory) throws IOException {
    // given
    Path project = OwnToolsExample.prepare(directory);
    Path tool = project.resolve("src/main/java/com/example/tools/ReportTool.java");
    String arguments = "{\"topic\":\"ships\",\"chapters\":1}";

    try (ServerProcess gateway = startGateway(project, OwnToolsExample.properties(directory))) {
      assertThat(call(gateway, "report", arguments)).contains("1 chapters about ships");

      // when, then
      edit(tool, " chapters about ", " pages about ");
      awaitResult(gateway, "report", arguments, "1 pages about ships");
    } finally {
      OwnToolsExample.unlink(directory);
    }
  }

  /** {@code quarkus:test} runs the tests again after an edit. */
  @Test
  void shouldTestEditedClassesContinuously(@TempDir Path project) throws IOException {
    // given
    String tested = "dev/holdfast/log/StreamRefTest.java";
    copyProgram(project);
    OwnToolsExample.copy(
        Path.of("src/test/java", tested), project.resolve("src/test/java").resolve(tested));
    Path source = project.resolve("src/main/java/dev/holdfast/log/StreamRef.java");

    try (ServerProcess tests =
        start(
            TESTED,
            project,
            "quarkus:test",
            "-Dquarkus.console.basic=true",
            "-Dmaven.main.skip",
            "-Dspotless.check.skip")) {
      // when, then
      edit(source, "MAX_NAME = 32", "MAX_NAME = 31");
      await().atMost(MOST).until(tests::output, output -> output.contains(" failed ("));
    }
  }

  private static void copyProgram(Path project) throws IOException {
    for (String part : List.of("pom.xml", ".mvn", "src/main", "target/classes")) {
      OwnToolsExample.copy(Path.of(part), project.resolve(part));
    }
  }

  private static ServerProcess startGateway(Path project, String... properties) {
    return start(
        READY,
        project,
        "quarkus:dev",
        Stream.concat(Stream.of("-Dquarkus.console.enabled=false"), Stream.of(properties))
            .toArray(String[]::new));
  }

  private static ServerProcess start(
      Pattern ready, Path project, String goal, String... properties) {
    ProcessBuilder maven =
        OwnToolsExample.maven(
            project,
            goal,
            "-Ddebug=false",
            "-Dquarkus.http.port=0",
            "-Dquarkus.management.port=0",
            "-Dquarkus.analytics.disabled=true");
    maven.command().addAll(List.of(properties));
    return ServerProcess.start(maven, ready);
  }

  private static void edit(Path source, String old, String text) throws IOException {
    Files.writeString(source, Files.readString(source).replace(old, text));
  }

  /** The request after an edit restarts the gateway, but none within two seconds of another. */
  private static void awaitResult(
      ServerProcess gateway, String tool, String arguments, String result) {
    await()
        .atMost(MOST)
        .ignoreExceptions()
        .untilAsserted(
            () -> assertThat(call(gateway, tool, arguments)).as(gateway.output()).contains(result));
  }

  private static String call(ServerProcess gateway, String tool, String arguments) {
    return McpClient.at(URI.create("http://127.0.0.1:" + gateway.port() + "/mcp"))
        .ready()
        .call(tool, arguments)
        .events()
        .getLast()
        .data();
  }
}
