package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.ServerProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the commands of docs/authorization-walk.md, and compares what they print. */
@Timeout(120)
class AuthorizationWalkIT {

  private static final Pattern BLOCK =
      Pattern.compile("(?m)^```(sh)?\\n(.*?)^```$", Pattern.DOTALL);
  private static final Pattern EXPORT = Pattern.compile("(?m)^export (\\w+)=(.*)$");
  private static final Pattern LISTENING = Pattern.compile("listening on (\\d+)");
  private static final Pattern READY = Pattern.compile("Listening on: http://[^:]+:(\\d+)");
  private static final String MARK = "--- end of a block ---";

  /** Commands, and what they print. */
  private record Step(String commands, String output) {}

  @TempDir private Path directory = Path.of("");

  @Test
  void shouldPrintWhatThePageShows() throws Exception {
    int providerPort = Ports.free();
    int port = Ports.free();
    List<Step> steps =
        steps(
            Files.readString(Path.of("docs", "authorization-walk.md"))
                .replace(":9400", ":" + providerPort)
                .replace("mjs 9400", "mjs " + providerPort)
                .replace("on 9400", "on " + providerPort)
                .replace(":8080", ":" + port));
    try (ServerProcess provider = provider(steps.get(0));
        ServerProcess gateway = gateway(steps.get(1), port)) {
      List<Step> walk = steps.subList(2, steps.size());

      List<String> printed = run(walk.stream().map(Step::commands).toList());

      for (int i = 0; i < walk.size(); i++) {
        assertThat(printed.get(i))
            .as("%s\n%s\n%s", walk.get(i).commands(), provider.output(), gateway.output())
            .matches(pattern(walk.get(i).output()));
      }
    }
  }

  private static List<Step> steps(String page) {
    List<Step> steps = new ArrayList<>();
    Matcher block = BLOCK.matcher(page);
    while (block.find()) {
      if (block.group(1) != null) {
        steps.add(new Step(block.group(2), ""));
      } else {
        steps.add(new Step(steps.removeLast().commands(), block.group(2)));
      }
    }
    assertThat(steps).hasSizeGreaterThan(7);
    return steps;
  }

  /** With the packages of the tests in place of an installation. */
  private ServerProcess provider(Step step) throws IOException {
    Path example = Path.of("examples", "authorization");
    assertThat(NodeFixture.text("package.json"))
        .contains("\"oidc-provider\": \"9.13.3\"")
        .contains(
            Files.readString(example.resolve("package.json"))
                .lines()
                .filter(line -> line.contains("oidc-provider\""))
                .collect(Collectors.joining())
                .strip());
    Files.copy(example.resolve("provider.mjs"), directory.resolve("provider.mjs"));
    Path packages = NodeFixture.directory().resolve("node_modules");
    Files.createSymbolicLink(directory.resolve("node_modules"), packages);
    String start = step.commands().lines().reduce((_, last) -> last).orElseThrow();
    assertThat(start).startsWith("node provider.mjs ");
    List<String> command = new ArrayList<>(List.of(start.split(" ", -1)));
    command.set(0, packages.resolve(Path.of(".bin", "node")).toString());
    return ServerProcess.start(
        new ProcessBuilder(command).directory(directory.toFile()), LISTENING);
  }

  private static ServerProcess gateway(Step step, int port) {
    assertThat(step.commands()).endsWith("./holdfast\n");
    ProcessBuilder builder =
        new ProcessBuilder(
            PackagedProgram.command(
                PackagedProgram.shortLived("-Xmx256m", "-Dquarkus.http.port=" + port), List.of()));
    EXPORT
        .matcher(step.commands())
        .results()
        .forEach(export -> builder.environment().put(export.group(1), export.group(2)));
    return ServerProcess.start(builder, READY);
  }

  private List<String> run(List<String> blocks) throws IOException, InterruptedException {
    String script =
        blocks.stream()
            .flatMap(block -> Stream.of(block, "echo '" + MARK + "'\n"))
            .collect(Collectors.joining());
    Path file = Files.writeString(directory.resolve("walk.sh"), script);
    Process bash =
        new ProcessBuilder("bash", file.toString())
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .start();
    String printed = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(bash.waitFor()).as(printed).isZero();
    return List.of(printed.replace("\r", "").split(MARK + "\n", -1));
  }

  /** Three dots stand for anything, also for the end of a line. */
  private static Pattern pattern(String output) {
    String quoted =
        Stream.of(output.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
    return Pattern.compile(quoted);
  }
}
