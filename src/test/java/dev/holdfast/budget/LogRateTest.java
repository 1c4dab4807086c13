package dev.holdfast.budget;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
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

  @Test
  void shouldAdmitBurstAndThenRate() {
    AtomicLong clock = new AtomicLong();
    LogRate rate = new LogRate(Duration.ofMillis(50), 100, clock::get);

    assertThat(admitted(rate, 300)).isEqualTo(100);
    clock.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(admitted(rate, 300)).isEqualTo(20);
    clock.addAndGet(Duration.ofHours(1).toNanos());
    assertThat(admitted(rate, 300)).isEqualTo(100);
  }

  @Test
  void shouldCountDroppedLines() {
    AtomicLong clock = new AtomicLong();
    LogRate rate = new LogRate(Duration.ofMillis(50), 100, clock::get);
    admitted(rate, 107);

    clock.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(rate.next()).hasValue(7);
    assertThat(rate.next()).hasValue(0);
  }

  private static int admitted(LogRate rate, int lines) {
    int admitted = 0;
    for (int i = 0; i < lines; i++) {
      admitted += rate.next().isPresent() ? 1 : 0;
    }
    return admitted;
  }
}
