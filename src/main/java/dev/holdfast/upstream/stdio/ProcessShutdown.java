package dev.holdfast.upstream.stdio;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jboss.logging.Logger;

/**
 * Ends a process and all its descendants. A server often runs behind a wrapper such as {@code npx}
 * or a shell, and a signal would end the wrapper alone.
 *
 * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#stdio">MCP
 *     2025-11-25, Lifecycle, Shutdown, stdio</a>
 */
final class ProcessShutdown {

  private static final Logger LOG = Logger.getLogger(ProcessShutdown.class);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(10);

  private final String name;
  private final ProcessHandle process;
  private final Duration grace;
  private final Set<ProcessHandle> family = ConcurrentHashMap.newKeySet();

  /**
   * Ends only the process itself before {@link #findDescendants} is called.
   *
   * @param name marks log lines
   * @param grace wait after each step
   */
  ProcessShutdown(String name, ProcessHandle process, Duration grace) {
    this.name = name;
    this.process = process;
    this.grace = grace;
    family.add(process);
  }

  /** Records the descendants. After the process has ended, nothing links them to it. */
  void findDescendants() {
    List.copyOf(family).forEach(member -> member.descendants().forEach(family::add));
  }

  /**
   * Closes stdin, then sends SIGTERM, then SIGKILL, until all processes have ended.
   *
   * @param closeStdin closes stdin without waiting
   */
  void run(Runnable closeStdin) {
    findDescendants();
    closeStdin.run();
    if (!awaitEnd()) {
      terminate();
    }
  }

  /** Sends SIGTERM, then SIGKILL, until all processes have ended. */
  void terminate() {
    signal(ProcessHandle::destroy);
    if (awaitEnd()) {
      return;
    }
    signal(ProcessHandle::destroyForcibly);
    if (!awaitEnd()) {
      LOG.warnf("process cannot be ended upstream=%s pid=%d", name, process.pid());
    }
  }

  private void signal(Consumer<ProcessHandle> signal) {
    findDescendants();
    family.stream().filter(ProcessShutdown::isRunning).forEach(signal);
  }

  /** A zombie counts as alive until its parent waits for it, but has no command any more. */
  private static boolean isRunning(ProcessHandle member) {
    return member.isAlive() && member.info().command().isPresent();
  }

  /** Polls: the JDK reports the end of a child, but not of its descendants. */
  private boolean awaitEnd() {
    long start = System.nanoTime();
    try {
      while (family.stream().anyMatch(ProcessShutdown::isRunning)) {
        if (System.nanoTime() - start >= grace.toNanos()) {
          return false;
        }
        Thread.sleep(POLL_INTERVAL);
      }
      return true;
    } catch (InterruptedException e) {
      // An interrupt is not expected; it skips the remaining wait.
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
