package dev.holdfast.eras;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.NodeFixture;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The harness without a gateway in between: each server serves the clients of its own era. */
class DirectHarnessIT {

  private static final Path TABLE = Path.of("src", "test", "resources", "eras", "direct.md");

  @ParameterizedTest
  @CsvSource({"old http, conformance-server.mjs", "new http, era/server.mjs"})
  void shouldFindOneEra(String server, String script) {
    try (NodeFixture upstream = NodeFixture.start(script)) {
      List<Finding> findings = EraHarness.find(server, upstream.url());

      assertThat(findings).hasSize(68);
      assertThat(ExpectedOutcomes.read(TABLE).differences(findings)).isEmpty();
    }
  }
}
