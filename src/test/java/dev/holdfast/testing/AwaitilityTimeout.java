package dev.holdfast.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Raises the default timeout of waits for a condition: on a machine with two processors a program
 * may need more than ten seconds to start. No test judges by it.
 */
public final class AwaitilityTimeout implements LauncherSessionListener {

  private static final Duration LONGEST = Duration.ofSeconds(40);

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    Awaitility.setDefaultTimeout(LONGEST);
  }
}
