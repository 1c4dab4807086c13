package dev.holdfast.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.NodeFixture;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The official conformance suite, through the gateway. */
class GatewayConformanceIT {

  @Test
  void shouldConformOnTheStoreInMemory() {
    try (NodeFixture server = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway gateway = Gateway.start(Map.of("holdfast.upstream.url", server.url().toString()))) {
      conforms(gateway, "memory");
    }
  }

  private static void conforms(Gateway gateway, String name) {
    ConformanceReport report = ConformanceRunner.run(gateway.url(), name);

    assertThat(report.scored()).as(report.summary()).hasSize(30).allMatch(ScenarioResult::isClean);
    assertThat(report.unscored()).as(report.summary()).hasSize(3).allMatch(ScenarioResult::isClean);
  }
}
