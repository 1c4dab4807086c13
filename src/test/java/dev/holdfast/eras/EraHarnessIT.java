package dev.holdfast.eras;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.OwnToolsExample;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Clients of both eras with servers of both eras, through the gateway. The features that cannot
 * work stand with their reasons in {@code eras/gateway.md} of the test resources. The test leaves
 * what it found in {@code target/eras}.
 */
@EnabledIfSystemProperty(named = "holdfast.eras", matches = "true")
class EraHarnessIT {

  private static final ExpectedOutcomes EXPECTED =
      ExpectedOutcomes.read(Path.of("src", "test", "resources", "eras", "gateway.md"));
  private static final List<Finding> ALL = new ArrayList<>();

  @AfterAll
  static void write() {
    EraHarness.write(Path.of("target", "eras", "gateway.md"), ALL);
  }

  @ParameterizedTest
  @CsvSource({
    "old http, conformance-server.mjs, /mcp",
    "old sse, legacy-server.mjs, /sse",
    "new http, era/server.mjs, /mcp"
  })
  void shouldServeBothErasOverHttp(String server, String script, String path) {
    try (NodeFixture upstream = NodeFixture.start(script);
        Gateway gateway = Gateway.start(with("upstream.url", upstream.url(path).toString()))) {
      findsAsExpected(server, gateway.url());
    }
  }

  /** Each request goes to the next one of three replicas. */
  @ParameterizedTest
  @CsvSource({"old http, conformance-server.mjs", "new http, era/server.mjs"})
  void shouldServeBothErasAtAnyReplica(String server, String script) {
    try (NodeFixture upstream = NodeFixture.start(script);
        RedisFixture redis = RedisFixture.start()) {
      Map<String, String> settings = new HashMap<>(with("upstream.url", upstream.url().toString()));
      settings.putAll(redis.gatewaySettings());
      try (Gateway one = Gateway.start(settings);
          Gateway two = Gateway.start(settings);
          Gateway three = Gateway.start(settings);
          RoundRobin replicas = RoundRobin.over(one.url(), two.url(), three.url())) {
        List<Finding> findings = EraHarness.find(server, replicas.url());

        assertThat(EXPECTED.differences(findings)).isEmpty();
      }
    }
  }

  /** Both servers have the same tools; those of the first one have the names. */
  @ParameterizedTest
  @CsvSource({
    "old http, conformance-server.mjs, era/server.mjs",
    "new http, era/server.mjs, conformance-server.mjs"
  })
  void shouldServeBothErasAtOneEndpoint(String server, String script, String other) {
    try (NodeFixture first = NodeFixture.start(script);
        NodeFixture second = NodeFixture.start(other)) {
      Map<String, String> settings =
          new HashMap<>(with("upstreams.first.url", first.url().toString()));
      settings.put("holdfast.upstreams.second.url", second.url().toString());
      settings.put("holdfast.merge.servers", "first,second");
      settings.put("holdfast.merge.naming", "priority");
      try (Gateway gateway = Gateway.start(settings)) {
        findsAsExpected(server, gateway.url());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"old stdio, conformance-stdio.mjs", "new stdio, era/server.mjs"})
  void shouldServeBothErasOverStdio(String server, String script) {
    String command = NodeFixture.commandLine(script, "--stdio");
    Map<String, String> settings = new HashMap<>(with("upstream.command", command));
    settings.put("holdfast.upstream.era", "auto");
    try (Gateway gateway = Gateway.start(settings)) {
      findsAsExpected(server, gateway.url());
    }
  }

  @Test
  void shouldServeBothErasWithToolsOfTheGateway(@TempDir Path directory) {
    Path program = OwnToolsExample.build(directory, OwnToolsExample.TEST_TOOLS);
    try (Gateway gateway = Gateway.startBuild(program, with("demo-tools", "never"))) {
      findsAsExpected("local", gateway.url());
    }
  }

  /** The clients start the bridge, which talks to the gateway. */
  @ParameterizedTest
  @CsvSource({
    "old http over the bridge, conformance-server.mjs",
    "new http over the bridge, era/server.mjs"
  })
  void shouldServeBothErasOverTheBridge(String server, String script) {
    try (NodeFixture upstream = NodeFixture.start(script);
        Gateway gateway = Gateway.start(with("upstream.url", upstream.url().toString()))) {
      List<Finding> findings =
          EraHarness.findOverStdio(
              server, PackagedProgram.command("stdio", "--url", gateway.url().toString()));
      ALL.addAll(findings);

      assertThat(findings).hasSize(51);
      assertThat(EXPECTED.differences(findings)).isEmpty();
    }
  }

  /** Clients without a name share sessions, or else a list would change in another process. */
  private static Map<String, String> with(String key, String value) {
    return Map.of(
        "holdfast." + key,
        value,
        "holdfast.eras.event-ids",
        "true",
        "holdfast.eras.cancel-grace",
        "2s",
        "holdfast.eras.share-anonymous-sessions",
        "true");
  }

  private static void findsAsExpected(String server, URI gateway) {
    List<Finding> findings = EraHarness.find(server, gateway);
    ALL.addAll(findings);

    assertThat(EXPECTED.differences(findings)).isEmpty();
  }
}
