package dev.holdfast.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The official conformance suite, through the gateway. */
class GatewayConformanceIT {

  @Test
  void shouldConformOnTheStoreInMemory() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway gateway = Gateway.start(Map.of("holdfast.upstream.url", server.url().toString()))) {
      conforms(gateway.url(), "memory", "store in memory");
    }
  }

  @Test
  @Tag("long") // Two replicas in front of processes do all that one does.
  void shouldConformInFrontOfAProcess() {
    // A pipe does not tell which request a message belongs to; the client must not notice.
    String command = NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO);
    try (Gateway gateway = Gateway.start(Map.of("holdfast.upstream.command", command))) {
      conforms(gateway.url(), "stdio", "store in memory, server over stdio");
    }
  }

  @Test
  @Tag("long") // Two replicas on Redis do all that one does.
  void shouldConformOnRedis() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        RedisFixture redis = RedisFixture.start();
        Gateway gateway = Gateway.start(onRedis(redis, "url", server.url().toString()))) {
      conforms(gateway.url(), "redis", "Redis");
    }
  }

  @Test
  void shouldConformAtAnEndpointOfServersOfBothEras() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture other = NodeFixture.start(NodeFixture.STATELESS_SERVER);
        RedisFixture redis = RedisFixture.start()) {
      Map<String, String> settings = redis.gatewaySettings();
      settings.putAll(merged(server, other));
      conformsOverTwo(
          settings, "merged", "Redis, two replicas in turn, two servers at one endpoint");
    }
  }

  /** Settings of an endpoint where the first server has the names that both have. */
  static Map<String, String> merged(NodeFixture first, NodeFixture second) {
    return Map.of(
        "holdfast.upstreams.first.url",
        first.url().toString(),
        "holdfast.upstreams.second.url",
        second.url().toString(),
        "holdfast.merge.servers",
        "first,second",
        "holdfast.merge.naming",
        "priority");
  }

  /** Nothing sticks a session to a replica: a client's next request goes to the other. */
  @Test
  void shouldConformOverTwoReplicasInTurn() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        RedisFixture redis = RedisFixture.start()) {
      conformsOverTwo(
          onRedis(redis, "url", server.url().toString()),
          "replicas",
          "Redis, two replicas in turn");
    }
  }

  /** Each session's process is on one of the two. */
  @Test
  void shouldConformInFrontOfProcessesOverTwoReplicasInTurn() {
    String command = NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO);
    try (RedisFixture redis = RedisFixture.start()) {
      conformsOverTwo(
          onRedis(redis, "command", command),
          "stdio-replicas",
          "Redis, two replicas in turn, server over stdio");
    }
  }

  private static Map<String, String> onRedis(RedisFixture redis, String key, String upstream) {
    return redis.gatewaySettings("holdfast.upstream." + key, upstream);
  }

  private static void conformsOverTwo(Map<String, String> settings, String name, String way) {
    List<Gateway> pair = Gateway.startPair(settings);
    try (Gateway first = pair.getFirst();
        Gateway second = pair.getLast();
        RoundRobin replicas = RoundRobin.over(first.url(), second.url())) {
      conforms(replicas.url(), name, way);

      assertThat(replicas.requests(0)).isGreaterThan(30);
      assertThat(replicas.requests(1)).isCloseTo(replicas.requests(0), within(1));
    }
  }

  private static void conforms(URI gateway, String name, String way) {
    ConformanceReport report = ConformanceRunner.run(gateway, name);
    ConformanceRunner.write(name, report.row(way));

    assertThat(report.scored()).as(report.summary()).hasSize(30).allMatch(ScenarioResult::isClean);
    assertThat(report.unscored()).as(report.summary()).hasSize(3).allMatch(ScenarioResult::isClean);
    // The table shows what this test has found: copy the row if it differs.
    assertThat(Path.of("docs", "clients.md")).content().contains(report.row(way));
  }
}
