package dev.holdfast.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Lets every wait for a condition take longer than ten seconds, unless it says for how long: on a
 * machine with two processors some program starts that slowly now and then. No test judges by it.
 */
public final class PatientWaits implements LauncherSessionListener {

  private static final Duration LONGEST = Duration.ofSeconds(40);

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    Awaitility.setDefaultTimeout(LONGEST);
  }
}
