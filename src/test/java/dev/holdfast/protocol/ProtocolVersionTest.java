package dev.holdfast.protocol;

import static dev.holdfast.protocol.ProtocolVersion.V2025_03_26;
import static dev.holdfast.protocol.ProtocolVersion.V2025_06_18;
import static dev.holdfast.protocol.ProtocolVersion.V2025_11_25;
import static dev.holdfast.protocol.ProtocolVersion.V2026_07_28;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProtocolVersionTest {

  @Test
  void shouldParseWireNames() {
    assertThat(ProtocolVersion.values())
        .extracting(ProtocolVersion::wire)
        .containsExactly("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28");
    for (ProtocolVersion version : ProtocolVersion.values()) {
      assertThat(ProtocolVersion.parse(version.wire())).contains(version);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "2025-03-27", " 2025-03-26", "2025-03-26 ", "V2025_03_26"})
  void shouldNotParseOtherNames(String wire) {
    assertThat(ProtocolVersion.parse(wire)).isEmpty();
  }

  @Test
  void shouldCompareRevisionsByDate() {
    assertThat(V2025_06_18).isGreaterThan(V2025_03_26).isLessThan(V2025_11_25);
  }

  @Test
  void shouldApplyTheRulesOfEachRevision() {
    assertThat(revisionsWith(ProtocolVersion::hasBatches)).containsExactly(V2025_03_26);
    assertThat(revisionsWith(ProtocolVersion::hasPriming))
        .containsExactly(V2025_11_25, V2026_07_28);
    assertThat(revisionsWith(version -> !version.hasSessions())).containsExactly(V2026_07_28);
    assertThat(ProtocolVersion.names(false)).containsExactly("2026-07-28");
    assertThat(ProtocolVersion.parseWithSessions("2026-07-28")).isEmpty();
    assertThat(ProtocolVersion.parseWithSessions("2025-11-25")).contains(V2025_11_25);
  }

  private static Stream<ProtocolVersion> revisionsWith(Predicate<ProtocolVersion> rule) {
    return Arrays.stream(ProtocolVersion.values()).filter(rule);
  }
}
