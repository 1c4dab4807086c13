package dev.holdfast.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.awaitility.Awaitility;

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

  /** Waits until a line has this text. */
  public void await(String part) {
    Awaitility.await().untilAsserted(() -> assertThat(lines).anyMatch(line -> line.contains(part)));
  }

  /** Repeats what causes a line until it has this text, since the rate of the line is limited. */
  public void awaitRepeating(String part, Runnable cause) {
    Awaitility.await()
        .untilAsserted(() -> {
          cause.run();
          assertThat(lines).anyMatch(line -> line.contains(part));
        });
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
