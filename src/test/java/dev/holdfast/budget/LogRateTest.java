package dev.holdfast.budget;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LogRateTest {

  @Test
  void shouldLeaveOutAllButTheFirst() {
    LogRate rate = new LogRate(Duration.ofHours(1));

    assertThat(rate.next()).hasValue(0);
    for (int i = 0; i < 10; i++) {
      assertThat(rate.next()).isEmpty();
    }
  }

  @Test
  void shouldWriteOncePerInterval() {
    LogRate rate = new LogRate(Duration.ZERO);

    assertThat(rate.next()).hasValue(0);
    assertThat(rate.next()).hasValue(0);
  }
}
