package dev.holdfast.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;

class ReasonTest {

  @Test
  void shouldJoinCausesWithoutRepetitions() {
    IOException root = new IOException("connection refused");
    RuntimeException failure = new RuntimeException("no server", new IllegalStateException(root));
    failure.addSuppressed(new IOException("and no other"));

    assertThat(Reason.of(failure))
        .isEqualTo("no server: java.io.IOException: connection refused: and no other");
  }

  @Test
  void shouldNameTheRootWithoutAnyMessage() {
    assertThat(Reason.of(new ClosedChannelException())).isEqualTo("ClosedChannelException");
  }

  @Test
  void shouldBeOneShortLine() {
    String reason = Reason.of(new IOException("two\nlines".repeat(100)));

    assertThat(reason).startsWith("two linestwo").hasSize(300);
  }
}
