package dev.holdfast.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.OwnToolsExample;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The official conformance suite for the revision 2026-07-28, through the gateway. What cannot pass
 * stands with its reason in {@code eras/conformance.md} of the test resources.
 */
class EraConformanceIT {

  /** Runs the long tests. */
  private static final String ALL = "holdfast.eras";

  /** Shorter than calls of the tools for tasks. */
  private static final String TASK_AFTER = "200ms";

  private static final Path EXPECTED =
      Path.of("src", "test", "resources", "eras", "conformance.md");

  @Test
  void shouldConformAtAServerWithoutSessions() {
    conformsInMemory("new", "era/server.mjs");
  }

  @Test
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void shouldConformAtAServerWithSessions() {
    conformsInMemory("old", "conformance-server.mjs");
  }

  private static void conformsInMemory(String upstream, String script) {
    try (NodeFixture server = NodeFixture.start(script);
        Gateway gateway =
            Gateway.start(
                Map.of(
                    "holdfast.upstream.url",
                    server.url().toString(),
                    "holdfast.calls.task-after",
                    TASK_AFTER))) {
      conforms(gateway.url(), upstream, upstream + "-memory");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "old, conformance-server.mjs, era/server.mjs",
    "merged, era/server.mjs, conformance-server.mjs"
  })
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void shouldConformAtAnEndpointOfServersOfBothEras(String upstream, String first, String second) {
    try (NodeFixture server = NodeFixture.start(first);
        NodeFixture other = NodeFixture.start(second)) {
      Map<String, String> settings = new HashMap<>(GatewayConformanceIT.merged(server, other));
      settings.put("holdfast.calls.task-after", TASK_AFTER);
      settings.put("holdfast.eras.share-anonymous-sessions", "true");
      try (Gateway gateway = Gateway.start(settings)) {
        conforms(gateway.url(), upstream, upstream + "-merged");
      }
    }
  }

  @Test
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void shouldConformWithToolsOfTheGateway(@TempDir Path directory) {
    Path program = OwnToolsExample.build(directory, OwnToolsExample.TEST_TOOLS);
    try (Gateway gateway =
        Gateway.startBuild(
            program,
            Map.of("holdfast.demo-tools", "never", "holdfast.calls.task-after", TASK_AFTER))) {
      conforms(gateway.url(), "local", "local-memory");
    }
  }

  /** Nothing ties a request to a replica: the rounds of a call reach both in turn. */
  @ParameterizedTest
  @CsvSource({"new, era/server.mjs", "old, conformance-server.mjs"})
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void shouldConformOverTwoReplicasInTurn(String upstream, String script) {
    try (NodeFixture server = NodeFixture.start(script);
        RedisFixture redis = RedisFixture.start()) {
      Map<String, String> settings = new HashMap<>(redis.gatewaySettings());
      settings.put("holdfast.upstream.url", server.url().toString());
      settings.put("holdfast.calls.task-after", TASK_AFTER);
      // The suite waits half a second for a stream, in which no session need be opened.
      settings.put("holdfast.eras.share-anonymous-sessions", "true");
      List<Gateway> pair = Gateway.startPair(settings);
      try (Gateway first = pair.getFirst();
          Gateway second = pair.getLast();
          RoundRobin replicas = RoundRobin.over(first.url(), second.url())) {
        conforms(replicas.url(), upstream, upstream + "-redis");
      }
    }
  }

  /** The gateway is the client of the suite's servers; a client calls through the gateway. */
  @Test
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void shouldConformAsClient(@TempDir Path directory) throws IOException {
    List<String> options =
        PackagedProgram.shortLived(
            "-Xmx256m", "-Dquarkus.http.port=0", "-Dholdfast.upstream.url={url}");
    Path gateway = directory.resolve("gateway.json");
    new ObjectMapper().writeValue(gateway.toFile(), PackagedProgram.command(options, List.of()));

    ConformanceReport report =
        ConformanceRunner.runClient(
            NodeFixture.words(NodeFixture.CONFORMANCE_CLIENT, gateway.toString()),
            "client-through-gateway");

    failsAsExpected(report, "client");
  }

  private static void conforms(URI gateway, String upstream, String name) {
    ConformanceReport report =
        ConformanceRunner.run(ConformanceRunner.STATELESS_REVISION, gateway, "stateless-" + name);
    long passed = report.scored().stream().filter(ScenarioResult::isPassed).count();
    String row = "| %s | %d of %d".formatted(inPage(upstream), passed, report.scored().size());
    ConformanceRunner.write("stateless-" + name, row);

    assertThat(report.scored()).hasSize(37);
    failsAsExpected(report, upstream);
    assertThat(Path.of("docs", "clients.md")).content().contains(row);
  }

  /** The name of an upstream in the table of docs/clients.md. */
  private static String inPage(String upstream) {
    return switch (upstream) {
      case "new" -> "without sessions";
      case "old" -> "with sessions";
      case "merged" -> "both at one endpoint";
      default -> "tools of Holdfast";
    };
  }

  private static void failsAsExpected(ConformanceReport report, String upstream) {
    assertThat(report.scenarios().stream().filter(scenario -> failed(scenario, upstream)))
        .as(report.summary())
        .extracting(ScenarioResult::name)
        .containsExactlyInAnyOrderElementsOf(expectedFailures(upstream));
  }

  /** The gateway makes tasks only of calls at servers with sessions, its own among them. */
  private static boolean failed(ScenarioResult scenario, String upstream) {
    return scenario.scored()
        ? !scenario.isPassed()
        : scenario.name().startsWith("tasks-")
            && List.of("old", "local").contains(upstream)
            && scenario.failed() > 0;
  }

  /** Rows of the table are {@code | upstream | scenario | reason |}. */
  private static List<String> expectedFailures(String upstream) {
    try {
      return Files.readAllLines(EXPECTED).stream()
          .map(line -> line.split("\\s*\\|\\s*"))
          .filter(cells -> cells.length > 3 && cells[1].equals(upstream))
          .map(cells -> cells[2])
          .toList();
    } catch (IOException e) {
      throw new IllegalStateException("No list of expected failures", e);
    }
  }
}
