package dev.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CachedValueTest {

  private final AtomicInteger asked = new AtomicInteger();

  @Test
  void shouldNotAskAgainWhileTheAnswerIsFresh() {
    CachedValue<Integer> answer = new CachedValue<>(Duration.ofHours(1), asked::incrementAndGet);

    assertThat(answer.get()).isEqualTo(1);
    assertThat(answer.get()).isEqualTo(1);
  }

  @Test
  void shouldAskAgainAfterwards() {
    CachedValue<Integer> answer = new CachedValue<>(Duration.ofNanos(-1), asked::incrementAndGet);

    assertThat(answer.get()).isEqualTo(1);
    assertThat(answer.get()).isEqualTo(2);
  }
}
