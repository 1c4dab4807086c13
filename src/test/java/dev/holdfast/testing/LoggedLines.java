package dev.holdfast.testing;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Records what a class or a package logs. */
public final class LoggedLines extends Handler implements AutoCloseable {

  private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
  private final Logger logger;

  /** Records until {@link #close()}. */
  public LoggedLines(Class<?> type) {
    this(type.getName());
  }

  /** Records all loggers below a name until {@link #close()}. */
  public LoggedLines(String name) {
    logger = Logger.getLogger(name);
    logger.addHandler(this);
  }

  /** The lines so far, without their levels. */
  public List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  public void publish(LogRecord line) {
    Object[] parameters = line.getParameters();
    lines.add(
        parameters == null
            ? line.getMessage()
            : String.format(Locale.ROOT, line.getMessage(), parameters));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
