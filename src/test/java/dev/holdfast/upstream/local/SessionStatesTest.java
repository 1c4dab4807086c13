package dev.holdfast.upstream.local;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SessionStatesTest {

  @Test
  void shouldForgetTheLevelThatWasUsedLongestAgo() {
    // given
    SessionStates states = new SessionStates();
    for (int i = 0; i < SessionStates.MAX_LEVELS; i++) {
      states.setLogLevel("s" + i, LogLevel.ALERT);
    }
    LogLevel used = states.logLevel("s0");

    // when
    states.setLogLevel("one more", LogLevel.ALERT);

    // then
    assertThat(used).isEqualTo(LogLevel.ALERT);
    assertThat(states.logLevel("s0")).isEqualTo(LogLevel.ALERT);
    assertThat(states.logLevel("s1")).isEqualTo(LogLevel.INFO);
    assertThat(states.logLevel("one more")).isEqualTo(LogLevel.ALERT);
  }
}
