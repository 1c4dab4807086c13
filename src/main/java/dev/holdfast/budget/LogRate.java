package dev.holdfast.budget;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Limits how often a log message that a peer can cause at will is written: at most once per
 * interval, with the number of those that were left out. Thread-safe.
 */
public final class LogRate {

  private final long intervalNanos;

  /**
   * The last message; null before the first one. Not a time of the start: a native executable
   * contains rates that exist since it was built.
   */
  private final AtomicReference<@Nullable Message> written = new AtomicReference<>();

  /** A message that was written at a time by {@link System#nanoTime()}. */
  private record Message(long nanos) {}

  private final AtomicLong leftOut = new AtomicLong();

  /** Creates a rate of one message per interval. */
  public LogRate(Duration interval) {
    intervalNanos = interval.toNanos();
  }

  /**
   * Asks whether to write a message.
   *
   * @return how many messages were left out since the last one; empty to leave this one out, too
   */
  public OptionalLong next() {
    Message before = written.get();
    Message next = new Message(System.nanoTime());
    if ((before == null || next.nanos() - before.nanos() >= intervalNanos)
        && written.compareAndSet(before, next)) {
      return OptionalLong.of(leftOut.getAndSet(0));
    }
    leftOut.incrementAndGet();
    return OptionalLong.empty();
  }

  /** Logs a warning, as {@link #log} does. */
  public void warn(Logger logger, String format, @Nullable Object... arguments) {
    log(logger, Logger.Level.WARN, format, arguments);
  }

  /** Logs a notice, as {@link #log} does. */
  public void info(Logger logger, String format, @Nullable Object... arguments) {
    log(logger, Logger.Level.INFO, format, arguments);
  }

  @SuppressWarnings("AnnotateFormatMethod") // The annotation is in no library of this program.
  private void log(
      Logger logger, Logger.Level level, String format, @Nullable Object... arguments) {
    log(logger, level, () -> format.formatted(arguments));
  }

  /**
   * Logs a message unless the rate forbids it. If messages were left out before it, the message
   * ends with their number. The message is one line, whatever peers have chosen of it: it is a
   * parameter, of which the filter of the log escapes the ends of lines.
   */
  public void log(Logger logger, Logger.Level level, Supplier<String> message) {
    next()
        .ifPresent(before ->
            logger.logf(
                level, "%s%s", message.get(), before == 0 ? "" : " not-logged-before=" + before));
  }
}
