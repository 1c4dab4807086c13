package dev.holdfast.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogLevelsTest {

  @Test
  void shouldOrderLevels() {
    assertThat(LogLevels.severity("debug")).isZero();
    assertThat(LogLevels.severity("warning")).isGreaterThan(LogLevels.severity("info"));
    assertThat(LogLevels.isKnown(LogLevels.DEFAULT)).isTrue();
  }

  @Test
  void shouldNotKnowOtherTexts() {
    assertThat(LogLevels.severity("loud")).isNegative();
    assertThat(LogLevels.severity(null)).isNegative();
    assertThat(LogLevels.isKnown(null)).isFalse();
  }
}
