package dev.holdfast.upstream.local.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.upstream.local.LogLevel;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LogFilterTest {

  private final UnreliableLogLevelStore levels = new UnreliableLogLevelStore();
  private final ToolCallTask.LogFilter filter = new ToolCallTask.LogFilter(levels, "s");

  @Test
  void shouldNotReadTheLevelForEachMessage() {
    for (int i = 0; i < 1000; i++) {
      assertThat(filter.accepts(LogLevel.CRITICAL)).isFalse();
      assertThat(filter.accepts(LogLevel.ALERT)).isTrue();
    }

    assertThat(levels.reads()).isLessThan(10);
  }

  @Test
  void shouldUseTheDefaultWhileTheStoreFails() {
    levels.fail(Duration.ZERO);

    assertThat(filter.accepts(LogLevel.DEBUG)).isFalse();
    assertThat(filter.accepts(LogLevel.INFO)).isTrue();
  }

  @Test
  void shouldUseThePreviousLevelWhileTheStoreFails() {
    assertThat(filter.accepts(LogLevel.CRITICAL)).isFalse();
    levels.fail(Duration.ZERO);

    await()
        .until(() -> {
          assertThat(filter.accepts(LogLevel.CRITICAL)).isFalse();
          return levels.reads() > 1;
        });

    assertThat(filter.accepts(LogLevel.CRITICAL)).isFalse();
  }

  /** With a frozen Redis, each message would delay its tool. */
  @Test
  void shouldPauseAfterASlowFailure() {
    levels.fail(Duration.ofMillis(1100));

    for (int i = 0; i < 10; i++) {
      assertThat(filter.accepts(LogLevel.DEBUG)).isFalse();
    }

    assertThat(levels.reads()).isEqualTo(1);
  }
}
