package dev.holdfast.cli;

import dev.holdfast.text.TlsProblem;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Ends the process after an {@link Error} that may have killed an event loop or an acceptor. An
 * orchestrator restarts a process that is dead, but not one that is half dead.
 *
 * <p>Netty, Vert.x and the framework catch such errors and log them, so this listens to the log.
 */
@Singleton
final class FatalErrors {

  private static final Logger LOG = Logger.getLogger(FatalErrors.class);

  private static final PrintStream STDERR =
      new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);

  /** As with {@code -XX:+ExitOnOutOfMemoryError}. */
  private static final int EXIT_CODE = 3;

  /** Logs why the thread of an event loop ends. */
  private static final String EVENT_LOOP = "io.netty.util.concurrent.SingleThreadEventExecutor";

  private final Handler logWatch = new LogWatch();

  void watch(@Observes StartupEvent event, ProcessMode mode) {
    if (mode.serves()) {
      Thread.setDefaultUncaughtExceptionHandler(FatalErrors::uncaught);
      java.util.logging.Logger.getLogger("").addHandler(logWatch);
    }
  }

  void stop(@Observes ShutdownEvent event) {
    java.util.logging.Logger.getLogger("").removeHandler(logWatch);
  }

  private static void uncaught(Thread thread, Throwable failure) {
    LOG.errorf(failure, "thread ended unexpectedly name=%s", thread.getName());
    if (failure instanceof Error && !(failure instanceof StackOverflowError)) {
      exit(failure);
    }
  }

  /**
   * Returns whether the virtual machine may be unable to go on. A deep recursion ends with its
   * request.
   */
  static boolean isFatal(@Nullable Throwable failure) {
    return failure != null
        && TlsProblem.causes(failure)
            .anyMatch(each ->
                each instanceof VirtualMachineError && !(each instanceof StackOverflowError));
  }

  /** Uses nothing that may wait or fail: neither the log nor shutdown hooks. */
  private static void exit(Throwable failure) {
    try {
      STDERR.println("Holdfast ends with exit code 3 after a fatal error: " + failure);
    } finally {
      Runtime.getRuntime().halt(EXIT_CODE);
    }
  }

  private static final class LogWatch extends Handler {

    @Override
    public void publish(LogRecord line) {
      Throwable thrown = line.getThrown();
      if (isFatal(thrown) || (thrown instanceof Error && EVENT_LOOP.equals(line.getLoggerName()))) {
        exit(thrown);
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
