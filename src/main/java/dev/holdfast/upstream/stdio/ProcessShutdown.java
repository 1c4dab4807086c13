package dev.holdfast.upstream.stdio;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Ends a process and all that it has started: a server often runs behind a wrapper such as {@code
 * npx} or a shell, which a signal would end without it.
 *
 * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#stdio">MCP
 *     2025-11-25, Lifecycle, Shutdown, stdio</a>
 */
final class ProcessShutdown {

  private static final Logger LOG = System.getLogger(ProcessShutdown.class.getName());
  private static final Duration LOOK_EVERY = Duration.ofMillis(10);

  private final String name;
  private final ProcessHandle process;
  private final Duration grace;
  private final Set<ProcessHandle> family = ConcurrentHashMap.newKeySet();

  /**
   * @param name what log lines are marked with
   * @param grace how long to wait after each step
   */
  ProcessShutdown(String name, ProcessHandle process, Duration grace) {
    this.name = name;
    this.process = process;
    this.grace = grace;
    family.add(process);
  }

  /**
   * Notes what the process has started until now. Once it has ended itself, nothing tells any more
   * whose they were.
   */
  void look() {
    List.copyOf(family).forEach(member -> member.descendants().forEach(family::add));
  }

  /**
   * Goes through the steps until nothing is left: close stdin, SIGTERM, SIGKILL.
   *
   * @param closeStdin closes it without waiting
   */
  void run(Runnable closeStdin) {
    look();
    closeStdin.run();
    if (hasEnded()) {
      return;
    }
    signal(ProcessHandle::destroy);
    if (hasEnded()) {
      return;
    }
    signal(ProcessHandle::destroyForcibly);
    if (!hasEnded()) {
      LOG.log(
          Level.WARNING,
          "upstream={0} pid={1} cannot be ended",
          name,
          Long.toString(process.pid()));
    }
  }

  private void signal(Consumer<ProcessHandle> way) {
    look();
    family.stream().filter(ProcessShutdown::lives).forEach(way);
  }

  /** One that has ended counts as alive until it is waited for; but it has no program any more. */
  private static boolean lives(ProcessHandle member) {
    return member.isAlive() && member.info().command().isPresent();
  }

  /** By looking: only of our own child the end is told, and not of what it has started. */
  private boolean hasEnded() {
    long start = System.nanoTime();
    try {
      while (family.stream().anyMatch(ProcessShutdown::lives)) {
        if (System.nanoTime() - start >= grace.toNanos()) {
          return false;
        }
        Thread.sleep(LOOK_EVERY);
      }
      return true;
    } catch (InterruptedException e) {
      // Nobody interrupts this thread; if somebody did, he would want it over with.
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
