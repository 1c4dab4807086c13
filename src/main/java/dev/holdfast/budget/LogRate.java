package dev.holdfast.budget;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Limits how often a log message that a peer can cause at will is written: a burst, and then once
 * per interval, with the number of those that were left out. Thread-safe.
 */
public final class LogRate {

  private final long intervalNanos;
  private final int burst;
  private final LongSupplier nanoTime;

  /**
   * State after the last message; null before the first one. Not a time of the start: a native
   * executable contains rates that exist since it was built.
   */
  private final AtomicReference<@Nullable LastMessage> written = new AtomicReference<>();

  /**
   * A message that was written.
   *
   * @param at the nano time
   * @param restNanos an interval for each message of the burst that is left
   */
  private record LastMessage(long at, long restNanos) {}

  private final AtomicLong leftOut = new AtomicLong();

  /** Creates a rate of one message per interval. */
  public LogRate(Duration interval) {
    this(interval, 1);
  }

  /** Creates a rate of one message per interval, after a burst of messages. */
  public LogRate(Duration interval, int burst) {
    this(interval, burst, System::nanoTime);
  }

  LogRate(Duration interval, int burst, LongSupplier nanoTime) {
    this.intervalNanos = interval.toNanos();
    this.burst = burst;
    this.nanoTime = nanoTime;
  }

  /**
   * Asks whether to write a message.
   *
   * @return how many messages were left out since the last one; empty to leave this one out, too
   */
  public OptionalLong next() {
    LastMessage before = written.get();
    long now = nanoTime.getAsLong();
    long whole = burst * intervalNanos;
    long credit = before == null ? whole : Math.min(whole, before.restNanos() + now - before.at());
    if (credit >= intervalNanos
        && written.compareAndSet(before, new LastMessage(now, credit - intervalNanos))) {
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
