package dev.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RememberedTest {

  private final AtomicInteger asked = new AtomicInteger();

  @Test
  void shouldNotAskAgainWhileTheAnswerIsFresh() {
    Remembered<Integer> answer = new Remembered<>(Duration.ofHours(1), asked::incrementAndGet);

    assertThat(answer.get()).isEqualTo(1);
    assertThat(answer.get()).isEqualTo(1);
  }

  @Test
  void shouldAskAgainAfterwards() {
    Remembered<Integer> answer = new Remembered<>(Duration.ofNanos(-1), asked::incrementAndGet);

    assertThat(answer.get()).isEqualTo(1);
    assertThat(answer.get()).isEqualTo(2);
  }
}
