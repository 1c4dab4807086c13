package dev.holdfast.upstream.stdio;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LogRateLimitTest {

  private final AtomicLong clock = new AtomicLong();
  private final ProcessLog.LogRateLimit limit = new ProcessLog.LogRateLimit(clock::get);

  @Test
  void shouldAdmitBurstAndThenRate() {
    assertThat(admitted(300)).isEqualTo(ProcessLog.LogRateLimit.BURST);
    clock.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(admitted(300)).isEqualTo(20);
    clock.addAndGet(Duration.ofHours(1).toNanos());
    assertThat(admitted(300)).isEqualTo(ProcessLog.LogRateLimit.BURST);
  }

  @Test
  void shouldCountDroppedLines() {
    admitted(ProcessLog.LogRateLimit.BURST + 7);

    assertThat(limit.dropped()).isEqualTo(7);
    assertThat(limit.dropped()).isZero();
  }

  private int admitted(int lines) {
    int admitted = 0;
    for (int i = 0; i < lines; i++) {
      admitted += limit.admits() ? 1 : 0;
    }
    return admitted;
  }
}
