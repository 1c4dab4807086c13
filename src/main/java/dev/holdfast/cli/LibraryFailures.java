package dev.holdfast.cli;

import dev.holdfast.budget.LogRate;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.logging.LogRecord;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.ExtLogRecord.FormatStyle;
import org.jspecify.annotations.Nullable;

/**
 * Shortens what Netty and Vert.x log about connections that fail. Clients can cause these at will:
 * Vert.x fails with a null pointer at a pipeline that is cut off, and at a connection during a look
 * for renewed certificates. Each becomes one line without a stack trace, at a bounded rate.
 */
final class LibraryFailures {

  private final LogRate rate = new LogRate(Duration.ofSeconds(10));

  /** Shortens a record of these libraries. Returns false if the rate forbids it. */
  @SuppressWarnings("deprecation") // Formatters know no other way to the text of any style.
  boolean shorten(LogRecord entry) {
    Throwable failure = entry.getThrown();
    if (!(failure instanceof Exception)
        || !(entry instanceof ExtLogRecord line)
        || !isLibrary(entry.getLoggerName())) {
      return true;
    }
    OptionalLong before = rate.next();
    if (before.isEmpty()) {
      return false;
    }
    StackTraceElement[] trace = failure.getStackTrace();
    line.setMessage(
        "%s failure=%s at=%s not-logged-before=%d"
            .formatted(
                line.getFormattedMessage(),
                failure,
                trace.length == 0 ? "unknown" : trace[0],
                before.getAsLong()),
        FormatStyle.NO_FORMAT);
    line.setParameters(null);
    line.setThrown(null);
    return true;
  }

  private static boolean isLibrary(@Nullable String logger) {
    return logger != null && (logger.startsWith("io.netty.") || logger.startsWith("io.vertx."));
  }
}
