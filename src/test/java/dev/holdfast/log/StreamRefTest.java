package dev.holdfast.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamRefTest {

  @Test
  void shouldTakeLettersAndDigits() {
    assertThat(StreamRef.isName("azAZ09".repeat(5) + "ab")).isTrue();
    assertThat(new StreamRef(new LogKey("azAZ09_-".repeat(16)), "g").name()).isEqualTo("g");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a:b", "a_b", "a-b", "ä", "a\n", "a{", "a@", "a[", "a`", "a/"})
  void shouldRefuseOtherNames(String name) {
    assertThat(StreamRef.isName(name)).isFalse();
    assertThatThrownBy(() -> new StreamRef(new LogKey("s"), name))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldRefuseLongNamesAndSessions() {
    assertThat(StreamRef.isName("a".repeat(33))).isFalse();
    String session = "a".repeat(129);
    assertThatThrownBy(() -> new LogKey(session)).isInstanceOf(IllegalArgumentException.class);
  }
}
