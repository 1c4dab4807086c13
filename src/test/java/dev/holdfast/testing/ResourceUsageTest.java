package dev.holdfast.testing;

import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

class ResourceUsageTest {

  /** What was renamed would never be found again, and so never be missed. */
  @ParameterizedTest
  @FieldSource("dev.holdfast.testing.ResourceUsage#PASSING")
  void shouldLookForWhatThereIs(String name) {
    assertThatCode(() -> Class.forName(name, false, getClass().getClassLoader()))
        .doesNotThrowAnyException();
  }
}
