package dev.holdfast.upstream.local.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.upstream.local.LogLevel;
import org.junit.jupiter.api.Test;

/** The contract of every {@link LogLevelStore}. */
public abstract class LogLevelStoreContract {

  /** A session name of a local server. */
  protected static final String SESSION = "8c1f0e4e-6f0c-4d0b-8f3c-0a6f3a1f6f11.er";

  /** Creates an empty store. */
  protected abstract LogLevelStore create();

  /** Returns the same store as another replica sees it. */
  protected abstract LogLevelStore another();

  @Test
  void shouldReturnTheLatestLevel() {
    LogLevelStore levels = create();
    assertThat(levels.find(SESSION)).isEmpty();

    levels.put(SESSION, LogLevel.DEBUG);
    levels.put(SESSION, LogLevel.ALERT);

    assertThat(levels.find(SESSION)).contains(LogLevel.ALERT);
    assertThat(another().find(SESSION)).contains(LogLevel.ALERT);
    assertThat(levels.find("another")).isEmpty();
  }

  @Test
  void shouldForgetTheLevelOfAnEndedSession() {
    LogLevelStore levels = create();
    levels.put(SESSION, LogLevel.DEBUG);
    levels.put("another", LogLevel.ALERT);

    another().remove(SESSION);

    await().until(() -> levels.find(SESSION).isEmpty());
    assertThat(levels.find("another")).contains(LogLevel.ALERT);
  }
}
