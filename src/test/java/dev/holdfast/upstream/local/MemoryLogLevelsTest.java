package dev.holdfast.upstream.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class MemoryLogLevelsTest extends LogLevelsContract {

  private final MemoryLogLevels levels = new MemoryLogLevels();

  @Override
  protected LogLevels create() {
    return levels;
  }

  @Override
  protected LogLevels another() {
    return levels;
  }

  @Test
  void shouldForgetTheLevelThatWasUsedLongestAgo() {
    // given
    for (int i = 0; i < MemoryLogLevels.MAX_LEVELS; i++) {
      levels.put("s" + i, LogLevel.ALERT);
    }
    Optional<LogLevel> used = levels.find("s0");

    // when
    levels.put("one more", LogLevel.ALERT);

    // then
    assertThat(used).contains(LogLevel.ALERT);
    assertThat(levels.find("s0")).contains(LogLevel.ALERT);
    assertThat(levels.find("s1")).isEmpty();
    assertThat(levels.find("one more")).contains(LogLevel.ALERT);
  }
}
