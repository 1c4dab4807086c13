package dev.holdfast.upstream.local.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.upstream.local.LogLevel;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MemoryLogLevelStoreTest extends LogLevelStoreContract {

  private final LogLevelStore.InMemory levels = new LogLevelStore.InMemory();

  @Override
  protected LogLevelStore create() {
    return levels;
  }

  @Override
  protected LogLevelStore another() {
    return levels;
  }

  @Test
  void shouldForgetTheLeastRecentlyUsedLevel() {
    // given
    for (int i = 0; i < LogLevelStore.InMemory.MAX_LEVELS; i++) {
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
