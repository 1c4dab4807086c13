package dev.holdfast.http;

import dev.holdfast.budget.LogRate;
import java.time.Duration;
import org.jboss.logging.Logger;

/** Logs that clients send malformed {@code Last-Event-ID}s, at a bounded rate. */
final class MalformedEventIds {

  private static final Logger LOG = Logger.getLogger(MalformedEventIds.class);
  private static final LogRate RATE = new LogRate(Duration.ofSeconds(10));

  private MalformedEventIds() {}

  /**
   * Logs one.
   *
   * @param consequence what the gateway does instead of resuming
   */
  static void warn(String consequence) {
    long leftOut = RATE.next();
    if (leftOut != LogRate.LEAVE_OUT) {
      LOG.warnf("Malformed Last-Event-ID; %s: not logged before=%d", consequence, leftOut);
    }
  }
}
