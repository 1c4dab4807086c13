package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FatalErrorsTest {

  @Test
  void shouldEndAfterErrorsOfTheVirtualMachine() {
    assertThat(FatalErrors.isFatal(new OutOfMemoryError())).isTrue();
    assertThat(FatalErrors.isFatal(new IllegalStateException(new OutOfMemoryError()))).isTrue();
    assertThat(FatalErrors.isFatal(new InternalError())).isTrue();
  }

  /** A peer can cause these, and they end with its request. */
  @Test
  void shouldGoOnAfterOthers() {
    assertThat(FatalErrors.isFatal(null)).isFalse();
    assertThat(FatalErrors.isFatal(new StackOverflowError())).isFalse();
    assertThat(FatalErrors.isFatal(new IllegalStateException("no"))).isFalse();
  }
}
