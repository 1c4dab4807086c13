package dev.holdfast.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RoundRobin;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The official conformance suite, through the gateway. */
class GatewayConformanceIT {

  @Test
  void shouldConformOnTheStoreInMemory() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway gateway = Gateway.start(Map.of("holdfast.upstream.url", server.url().toString()))) {
      conforms(gateway.url(), "memory");
    }
  }

  @Test
  void shouldConformInFrontOfAProcess() {
    // A pipe does not tell which request a message belongs to; the client must not notice.
    String command = NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO);
    try (Gateway gateway = Gateway.start(Map.of("holdfast.upstream.command", command))) {
      conforms(gateway.url(), "stdio");
    }
  }

  @Test
  void shouldConformOnRedis() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        RedisFixture redis = RedisFixture.start();
        Gateway gateway = onRedis(redis, server)) {
      conforms(gateway.url(), "redis");
    }
  }

  /** Nothing sticks a session to a replica: a client's next request goes to the other. */
  @Test
  void shouldConformOverTwoReplicasInTurn() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        RedisFixture redis = RedisFixture.start();
        Gateway first = onRedis(redis, server);
        Gateway second = onRedis(redis, server);
        RoundRobin replicas = RoundRobin.over(first.url(), second.url())) {
      conforms(replicas.url(), "replicas");

      assertThat(replicas.requests(0)).isGreaterThan(30);
      assertThat(replicas.requests(1)).isCloseTo(replicas.requests(0), within(1));
    }
  }

  /** Each session's process is on one of the two. */
  @Test
  void shouldConformInFrontOfProcessesOverTwoReplicasInTurn() {
    try (RedisFixture redis = RedisFixture.start();
        Gateway first = inFrontOfProcesses(redis);
        Gateway second = inFrontOfProcesses(redis);
        RoundRobin replicas = RoundRobin.over(first.url(), second.url())) {
      conforms(replicas.url(), "stdio-replicas");

      assertThat(replicas.requests(0)).isGreaterThan(30);
      assertThat(replicas.requests(1)).isCloseTo(replicas.requests(0), within(1));
    }
  }

  private static Gateway inFrontOfProcesses(RedisFixture redis) {
    return Gateway.start(
        Map.of(
            "holdfast.upstream.command", NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO),
            "holdfast.store", "redis",
            "quarkus.redis.hosts", redis.url()));
  }

  private static Gateway onRedis(RedisFixture redis, NodeFixture server) {
    return Gateway.start(
        Map.of(
            "holdfast.upstream.url", server.url().toString(),
            "holdfast.store", "redis",
            "quarkus.redis.hosts", redis.url()));
  }

  private static void conforms(URI gateway, String name) {
    ConformanceReport report = ConformanceRunner.run(gateway, name);

    assertThat(report.scored()).as(report.summary()).hasSize(30).allMatch(ScenarioResult::isClean);
    assertThat(report.unscored()).as(report.summary()).hasSize(3).allMatch(ScenarioResult::isClean);
  }
}
